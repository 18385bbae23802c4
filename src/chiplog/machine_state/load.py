"""Was the machine busy with other programs while a run was measured? As its header and its samples tell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chiplog.dataset.disturbance import header_list, is_in_virtual_time
from chiplog.dataset.series import Dataset, Series

OTHER_PROGRAMS = "other programs are running"
"""The fact by which the probe warns of load; its number is that of their runnable threads."""
INTERRUPTED = 2.0
"""Given: samples of more than so many medians of their series were interrupted; what exceeds that is lost time."""


@dataclass(frozen=True)
class MachineLoad:
    """What other programs took from a run.

    `programs` is the number of other programs' runnable threads when it began, `cpus` that of the CPUs of a host and
    `ranks` that of the ranks there; None where the file does not say. `lost` is the share of the measured time during
    which ranks were interrupted.
    """

    programs: float | None
    cpus: int | None
    ranks: int | None
    lost: float

    @property
    def takes_cpus_from_ranks(self) -> bool:
        """Whether there were more programs than CPUs without a rank."""
        if self.programs is None:
            return False
        spare = 0 if self.cpus is None or self.ranks is None else max(self.cpus - self.ranks, 0)
        return self.programs > spare

    def text(self) -> str:
        """The evidence in a few words.

        >>> MachineLoad(5.97, 2, 2, 0.43).text()
        '6 other programs ran on 2 CPUs, and interruptions took 43 % of the measured time'
        """
        parts = []
        if self.programs is not None:
            programs = f"{self.programs:.1f}".removesuffix(".0")
            noun = "other program" if programs == "1" else "other programs"
            parts.append(f"{programs} {noun} ran" + (f" on {self.cpus} CPUs" if self.cpus else ""))
        if self.lost >= 0.01:
            parts.append(f"interruptions took {100.0 * self.lost:.0f} % of the measured time")
        return ", and ".join(parts)


def machine_load(dataset: Dataset) -> MachineLoad | None:
    """The load on the machine that measured `dataset`; None in virtual time and for imported files, which tell none."""
    header = dataset.header
    if is_in_virtual_time(header) or not isinstance(header.get("machine"), Mapping):
        return None
    return MachineLoad(
        _programs(header), _cpus(header), _ranks_of_a_host(header), _lost_share(dataset.series)
    )


def _programs(header: Mapping[str, object]) -> float | None:
    for warning in header_list(header.get("warnings")):
        if isinstance(warning, Mapping) and warning.get("fact") == OTHER_PROGRAMS:
            number = warning.get("number")
            if isinstance(number, int | float) and math.isfinite(number):
                return float(number)
    return None


def _cpus(header: Mapping[str, object]) -> int | None:
    machine = header.get("machine")
    cores = machine.get("cores") if isinstance(machine, Mapping) else None
    return cores if isinstance(cores, int) and cores > 0 else None


def _ranks_of_a_host(header: Mapping[str, object]) -> int | None:
    """The most ranks that one host had."""
    return max(Counter(map(str, header_list(header.get("hosts")))).values(), default=None)


def _lost_share(all_series: Sequence[Series]) -> float:
    """The share of the samples' time by which interrupted samples exceed `INTERRUPTED` medians of their series."""
    total = lost = 0.0
    for series in all_series:
        if series.seconds.size and series.median > 0.0:
            total += series.batch * float(series.seconds.sum())
            beyond = np.maximum(series.seconds - INTERRUPTED * series.median, 0.0)
            lost += series.batch * float(beyond.sum())
    return lost / total if total > 0.0 else 0.0
