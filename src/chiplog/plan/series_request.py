"""One series of samples to take."""

from __future__ import annotations

from dataclasses import dataclass

ROUND_TRIP, ONE_WAY = "round-trip", "one-way"


@dataclass(frozen=True)
class SeriesRequest:
    """One series of samples. `delay_ns` is a busy delay in nanoseconds, or "rtt"/"rtt2": the median of PRTT(1,0,s)
    or PRTT(2,0,s) that the record's own warm-up finds.
    """

    pattern: str
    message_bytes: int
    train: int = 1
    delay_ns: float | str = 0
    operation: str = "send"
    posting: str = "normal"
    peers: int = 1
    pairs: int = 1
    direction: str | None = None
    """Of k pairs: "one-way" sends `window` messages before an answer, None exchanges round trips."""
    window: int = 1
    between: tuple[str, str] | None = None
    """The groups that k pairs run between, by their names in the header's `pair_groups`; None: the first two."""
    ranks: int = 2
    """Of a barrier or all pairs: all ranks of the run. The probe knows them, so a request's line leaves them out."""
    round: int | None = None
    """Of all pairs: which of the rounds that pair every two ranks once. A line leaves out what is None."""
    at_once: int | None = None
    """Of all pairs: 1 if the pairs of the round are timed at the same time (the default), 0 if one after the other."""
    turned: int | None = None
    """Of all pairs: 1 if the higher rank of each pair is the client, which sends; 0 (the default) if the lower one."""
    links: tuple[tuple[int, int], ...] | None = None
    """Of all pairs: those of this round, clients first, which `turned` makes servers; None: by the circle method."""

    @property
    def pairs_of_round(self) -> int:
        """Of all pairs: how many there are in this round."""
        if self.links is None:
            return self.ranks // 2
        return len(self.links)
