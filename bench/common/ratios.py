"""Ratios of pairs that were measured by turns: their median and its interval of 95 % by bootstrap over the pairs."""
import random
import statistics


def interval(ratios):
    pick = random.Random(1)
    medians = sorted(statistics.median(pick.choices(ratios, k=len(ratios))) for _ in range(4000))
    return statistics.median(ratios), medians[100], medians[-101]


def narrow(found):
    return found[1] >= 0.98 and found[2] <= 1.02


def say(found):
    return f"{found[0]:.3f} ({found[1]:.3f} to {found[2]:.3f})"
