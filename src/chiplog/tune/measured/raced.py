"""What is known of a race: its screening, cell by cell, and its confirmation, point by point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from chiplog.measurement.datatypes import BYTE, whole_datatypes
from chiplog.tune.measured.candidate import DEFAULT_NAME, Candidate
from chiplog.tune.measured.cells import CellState, Run
from chiplog.tune.measured.launch import (
    BESIDE_FILE,
    BUDGET_SECONDS,
    BY_FILE,
    Cell,
    Effort,
    RaceEntry,
    Result,
)
from chiplog.tune.measured.statistics import MARGIN, log_ratio

STARTS_IN_FORCE = 2
"""Derived: launches of a confirmation with the tuning file and without it."""


@dataclass(frozen=True)
class RaceOptions:
    """What is raced, and for how long."""

    operation: str
    ranks: tuple[int, ...]
    sizes: tuple[int, ...]
    budget_seconds: float = BUDGET_SECONDS
    seed: int = 1
    effort: Effort = field(default_factory=Effort)
    datatypes: tuple[str, ...] = (BYTE,)
    """The first that a size allows is screened; a choice must be confirmed for each of them."""

    def cell(self, ranks: int, message_bytes: int) -> Cell:
        """The cell that is screened."""
        datatype = whole_datatypes(self.datatypes, message_bytes)[0]
        return Cell(self.operation, ranks, message_bytes, datatype)

    def in_all_datatypes(self, cell: Cell) -> list[Cell]:
        """A cell of each datatype that the size allows, that of `self.cell` first."""
        return [
            replace(cell, datatype=datatype)
            for datatype in whole_datatypes(self.datatypes, cell.message_bytes)
        ]


@dataclass(frozen=True)
class SizeToConfirm:
    """A size that confirmation measures, of one datatype."""

    cell: Cell
    candidate: Candidate
    is_held_out: bool

    @property
    def size(self) -> tuple[int, int]:
        """What the points of several datatypes have in common: ranks and bytes."""
        return self.cell.ranks, self.cell.message_bytes

    @property
    def limit(self) -> float:
        """What the ratio has to be below."""
        return MARGIN if self.is_held_out else 1.0


@dataclass
class Raced:
    """All that came of a race."""

    options: RaceOptions
    cells: dict[Cell, CellState]
    runs: list[Run] = field(default_factory=list)
    confirmed: dict[SizeToConfirm, list[float]] = field(default_factory=dict)
    """Each point's logarithms of ratios, one a launch."""
    default_seconds: dict[Cell, list[float]] = field(default_factory=dict)
    """Medians of the default in confirming launches."""
    dropped: dict[str, str] = field(default_factory=dict)
    """Candidates that crashed, hung or gave a wrong result, with the reason."""
    seconds: float = 0.0
    launches: int = 0
    overheads: list[float] = field(default_factory=list)
    """Seconds of each start of the ranks beside samples and trials."""
    is_in_force: bool = False
    """Whether confirmation has started the ranks with the tuning file and without it."""
    held_out_seconds: float = 0.0
    """Of samples and trials at held-out sizes, in all launches."""
    ran_out: bool = False
    """Whether the budget ended before all was measured."""
    wanted_seconds: float = math.nan
    """The budget with which all that seemed faster would be confirmed a first time, if it is known."""

    @property
    def start_seconds(self) -> float:
        """What a start of the ranks takes beside samples and trials; 0 before the first."""
        return float(np.median(self.overheads)) if self.overheads else 0.0

    def add_start(self, stage: str, seconds: float) -> None:
        """Takes what a launch of the race took beside samples and trials."""
        starts = STARTS_IN_FORCE if self.is_in_force and stage != "screen" else 1
        self.overheads.append(seconds / starts)

    def screen(self, entries: Sequence[RaceEntry], result: Result) -> None:
        """Takes what a screening launch has shown of each cell's candidates."""
        for place, entry in enumerate(entries):
            state = self.cells[entry.cell]
            for candidate in entry.candidates:
                key = (place, candidate.name)
                if key in result.samples:
                    default = result.samples.get((place, DEFAULT_NAME))
                    state.learn(candidate.name, result.samples[key], default)
                elif key in result.slow:
                    state.mark_slow(candidate.name, result.slow[key])
                elif key in result.refused:
                    state.refuse(candidate.name)
                    if result.refused[key].startswith("its result is wrong"):
                        self.dropped.setdefault(candidate.name, result.refused[key])

    def confirm(self, entries: Sequence[RaceEntry], result: Result) -> None:
        """Takes what a confirming launch has shown of each point."""
        points = {(point.cell, point.candidate.name): point for point in self.confirmed}
        for place, entry in enumerate(entries):
            name = entry.candidates[-1].name
            point = points[entry.cell, name]
            if point.is_held_out:
                self.held_out_seconds += result.seconds_in(place)
            names = [name, DEFAULT_NAME, *((BY_FILE, BESIDE_FILE) if self.is_in_force else ())]
            samples = [result.samples[place, n] for n in names if (place, n) in result.samples]
            log = log_ratio(*samples) if len(samples) == len(names) else None
            if log is not None:
                default = result.samples[place, DEFAULT_NAME]
                self.confirmed[point].append(log)
                self.default_seconds.setdefault(entry.cell, []).append(default.typical)
