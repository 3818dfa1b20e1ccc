"""Charts for the pages, drawn beside their pictures: panels with axes, curves, legends."""
import math
import os
import sys

from figures import ROOT, SMOKE

sys.path.insert(0, os.path.join(ROOT, "docs", "pictures"))
from draw import HERE, Picture  # noqa: E402

__all__ = ["COLOURS", "Panel", "Picture", "legend", "save", "ticks"]
COLOURS = ["blue", "green", "orange", "purple"]


class Panel:
    """One chart: x and y are numbers of the axes; `log` axes are in powers."""

    def __init__(self, picture, left, title, x, y, log_x=False, log_y=False, width=360, height=240, top=64):
        self.p, self.left, self.top, self.width, self.height = picture, left, top, width, height
        self.x, self.y, self.log_x, self.log_y = x, y, log_x, log_y  # (label, [(number, word), ...])
        picture.text(left + width / 2, top - 34, title, 13, bold=True)
        for number, word in x[1]:
            at = self.at(number, y[1][0][0])[0]
            picture.path([(at, top), (at, top + height)], colour="line", weight=0.3)
            picture.text(at, top + height + 17, word, 10.5, "grey")
        for number, word in y[1]:
            at = self.at(x[1][0][0], number)[1]
            picture.path([(left, at), (left + width, at)], colour="line", weight=0.3)
            picture.text(left - 7, at + 4, word, 10.5, "grey", "end")
        picture.path([(left, top), (left, top + height), (left + width, top + height)], colour="ink", weight=1.2)
        picture.text(left + width / 2, top + height + 38, x[0], 11.5)
        picture.text(left - 40, top - 14, y[0], 11.5, anchor="start")

    @staticmethod
    def share(axis, log, number):
        low, high = axis[1][0][0], axis[1][-1][0]
        if log:
            low, high, number = math.log(low), math.log(high), math.log(number)
        return (number - low) / (high - low)

    def at(self, x, y):
        return (self.left + self.width * self.share(self.x, self.log_x, x),
                self.top + self.height * (1 - self.share(self.y, self.log_y, y)))

    def curve(self, points, colour, dashed=False, dots=True):
        places = [self.at(x, y) for x, y in points]
        self.p.path(places, colour=colour, weight=1.8, dashed=dashed)
        for place in places if dots else ():
            self.p.circle(*place, 3, colour, colour)

    def ring(self, x, y, colour):
        self.p.circle(*self.at(x, y), 6, "page", colour, weight=2)


def legend(p, y, entries):
    """(colour, dashed, words) side by side, two in a row."""
    for i, (colour, dashed, words) in enumerate(entries):
        x, line = 50 + 450 * (i % 2), y + 20 * (i // 2)
        p.path([(x, line - 4), (x + 26, line - 4)], colour=colour, weight=2, dashed=dashed)
        p.text(x + 34, line, words, 11.5, anchor="start")


def ticks(most, count=5, unit=""):
    """Round numbers from 0 to at least `most`."""
    rough = most / count
    power = 10 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    return [(i * step, f"{i * step:.10g}{unit}") for i in range(math.ceil(most / step - 1e-9) + 1)]


def save(p):
    path = os.path.join(SMOKE or HERE, p.name + ".svg")
    with open(path, "w", encoding="utf-8") as out:
        out.write(p.svg())
    print(f"wrote {os.path.relpath(path, ROOT)}", flush=True)
