#!/usr/bin/env python3
"""Writes what figures need of their font: a line for each character with its code, its advance and its
outline as a path of SVG, in units of the font (needs fontTools).

    python3 tools/outlines.py            makes crates/errbar-report/fonts/Arimo-Regular.outlines
    python3 tools/outlines.py --check    fails if that file is not what the font says
"""

import sys
from pathlib import Path

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

FONT = Path(__file__).parent.parent / "crates/errbar-report/fonts/Arimo-Regular.ttf"


class Svg(BasePen):
    """Quadratic curves one by one, with the points between two control points exact."""

    def __init__(self, glyphs):
        super().__init__(glyphs)
        self.words = []

    def add(self, letter, *points):
        self.words += [letter, *(f"{value:g}" for point in points for value in point)]

    def _moveTo(self, point):
        self.start = point
        self.add("M", point)

    def _lineTo(self, point):
        self.add("L", point)

    def _qCurveToOne(self, control, point):
        self.add("Q", control, point)

    def _closePath(self):
        self.add("Z")


def outlines(font):
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    # Code 0 stands for the characters that the font does not have.
    for code, name in sorted({**names, 0: ".notdef"}.items()):
        pen = Svg(glyphs)
        glyphs[name].draw(pen)
        yield f"{code:04X} {font['hmtx'][name][0]} {' '.join(pen.words)}\n"


def main():
    text = "".join(outlines(TTFont(FONT)))
    path = FONT.with_suffix(".outlines")
    if "--check" not in sys.argv:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path.name} is not what the font says: python3 tools/outlines.py makes it")


if __name__ == "__main__":
    main()
