"""The colours in which plots draw models: Okabe and Ito's, adjusted to a light and to a dark page."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEX = re.compile(r"#[0-9a-fA-F]{6}")
_DASHES = re.compile(r"(\d+(\.\d+)?( \d+(\.\d+)?)*)?")


@dataclass(frozen=True)
class Colour:
    """A line's colour on a light and on a dark page, such as "#0b63b5", and its dashes.

    `dashes` are lengths of dash and gap in turn, as in SVG, such as "9 4"; "" is a solid line. Raises ValueError for
    what is not written like that.
    """

    light: str
    dark: str
    dashes: str = ""

    def __post_init__(self) -> None:
        """Accepts nothing that could end a rule of the page's style sheet."""
        for colour in (self.light, self.dark):
            if not _HEX.fullmatch(colour):
                raise ValueError(f"colour {colour!r} is not of the form #0b63b5")
        if not _DASHES.fullmatch(self.dashes):
            raise ValueError(f"dashes {self.dashes!r} are not lengths such as 9 4")

    def dashed(self, dashes: str) -> Colour:
        """The same colour with other dashes."""
        return Colour(self.light, self.dark, dashes)


AMBER = Colour("#b87700", "#e6a83a")
SKY = Colour("#2b8fc9", "#7cc7f2")
BLUE = Colour("#0b63b5", "#5aa6f0")
GREEN = Colour("#00805f", "#38c29a")
ORANGE = Colour("#c24a00", "#f58b4c")
PURPLE = Colour("#8f4277", "#d99bc4")
"""Of all that has no colour of its own."""
