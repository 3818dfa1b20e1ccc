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


def compared(name, own, other, bar, unit):
    """What OLD / OLD and NEW / OLD say: the sentence without its verdict, and the figure."""
    base, found = interval(own), interval(other)
    verdict = "ok" if found[2] <= bar else "short" if found[1] > bar or narrow(base) else "not measurable"
    return f"{name}: OLD / OLD {say(base)}, NEW / OLD {say(found)}, {len(other)} pairs", {
        "name": name, "value": found[0], "unit": f"x OLD's {unit}, {found[1]:.3f} to {found[2]:.3f}", "against": "OLD / OLD",
        "limit": base[0], "ratio": found[0], "at_most": bar, "verdict": verdict}
