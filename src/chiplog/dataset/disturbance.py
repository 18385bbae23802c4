"""Was anything lost, doubled or overtaken on the way? Transports that repair such count it in each record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from chiplog.dataset.series import Series


@dataclass(frozen=True)
class Disturbance:
    """`disturbed` of `records` records have counts above 0; `counts` are the sums over all records."""

    disturbed: int
    records: int
    counts: tuple[tuple[str, int], ...]

    def sentence(self) -> str:
        """What a reader must know.

        >>> Disturbance(3, 40, (("lost", 4), ("resent", 4))).sentence()
        'In 3 of 40 records the network disturbed the messages (lost 4, resent 4); their samples hold the repairs.'
        """
        counts = ", ".join(f"{name} {count}" for name, count in self.counts if count)
        return (
            f"In {self.disturbed} of {self.records} records the network disturbed the messages ({counts}); "
            "their samples hold the repairs."
        )


def disturbance(series: Sequence[Series]) -> Disturbance | None:
    """What the records of `series` counted; None where nothing was counted or all counts are 0."""
    records = {
        (one_series.launch, one_series.record_id): one_series.counters
        for one_series in series
        if one_series.counters
    }
    disturbed = sum(any(counters.values()) for counters in records.values())
    if not disturbed:
        return None
    total: Counter[str] = Counter()
    for counters in records.values():
        total.update(counters)
    return Disturbance(disturbed, len(records), tuple(total.items()))
