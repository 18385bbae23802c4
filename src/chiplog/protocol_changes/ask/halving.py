"""Where a jump lies between two sizes, by halves."""

from __future__ import annotations

STEPS_BACK = 2
"""Given: halvings that an unclear answer takes back."""

Interval = tuple[int, int]
"""Two sizes in bytes between which a change lies."""


class Halving:
    """The sizes `low` and `high` in bytes, between which the jump lies as far as is known."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self._wider: list[Interval] = []
        self._may_step_back = True

    @property
    def is_done(self) -> bool:
        """Whether the two are neighbours."""
        return self.high - self.low <= 1

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The two and the one to decide, which lies between them."""
        return self.low, (self.low + self.high) // 2, self.high

    def narrow(self, *, middle_is_before: bool) -> None:
        """Goes on in the half that holds the jump."""
        low, middle, high = self.sizes
        self._wider.append((low, high))
        self.low, self.high = (middle, high) if middle_is_before else (low, middle)

    def step_back(self) -> bool:
        """Whether it can go on a little wider after an unclear answer: something disturbed the machine. Once."""
        if not self._wider or not self._may_step_back:
            return False
        self._may_step_back = False
        self.low, self.high = self._wider[-STEPS_BACK:][0]
        del self._wider[-STEPS_BACK:]
        return True
