"""What disturbed a run: more ranks than CPUs, which take turns, and messages that were lost, doubled or overtaken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chiplog.counts import counted
from chiplog.dataset.series import Series


@dataclass(frozen=True)
class Oversubscription:
    """The host with the fewest CPUs for its ranks."""

    ranks: int
    cpus: int

    def sentence(self) -> str:
        """What a reader must know.

        >>> Oversubscription(8, 2).sentence()
        'Oversubscribed: 8 ranks on 2 CPUs; times include the scheduler.'
        """
        return f"Oversubscribed: {self.ranks} ranks on {counted(self.cpus, 'CPU')}; times include the scheduler."


def is_in_virtual_time(header: Mapping[str, object]) -> bool:
    """Whether the ranks were simulated."""
    clock = header.get("clock")
    return isinstance(clock, Mapping) and clock.get("name") == "virtual"


def oversubscription(header: Mapping[str, object]) -> Oversubscription | None:
    """What the hosts and bindings in a run's header say; None where each rank has a CPU, or where they say nothing.

    In virtual time ranks share nothing.
    """
    if is_in_virtual_time(header):
        return None
    hosts, binding = header_list(header.get("hosts")), header_list(header.get("binding"))
    if len(hosts) != len(binding):
        return None
    cpus: dict[str, set[object]] = {}
    ranks: dict[str, int] = {}
    for host, allowed in zip(map(str, hosts), map(header_list, binding), strict=True):
        if not allowed:
            return None
        ranks[host] = ranks.get(host, 0) + 1
        cpus.setdefault(host, set()).update(map(str, allowed))
    crowded = [Oversubscription(ranks[host], len(cpus[host])) for host in ranks]
    worst = max(crowded, key=lambda host_load: host_load.ranks / host_load.cpus, default=None)
    return worst if worst is not None and worst.ranks > worst.cpus else None


def header_list(value: object) -> Sequence[object]:
    """The list that a header holds; empty where it holds something else."""
    return value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()


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
