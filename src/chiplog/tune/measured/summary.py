"""What a race says at its end: gains, their geometric mean, and how little of the whole was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chiplog.json_values import members, plain
from chiplog.tune.measured.candidate import DEFAULT_NAME
from chiplog.tune.measured.cells import CellState
from chiplog.tune.measured.choices import SizeVerdict
from chiplog.tune.measured.launch import Effort, trial_seconds
from chiplog.tune.measured.mistakes import Mistake, mistakes
from chiplog.tune.measured.raced import Raced
from chiplog.tune.measured.statistics import LOOKS, ratio_to_json

FEWEST = Effort().least
SCHEMA = "chiplog.measured-tuning/1"


@dataclass(frozen=True)
class Summary:
    """One race in figures."""

    cells: int
    changed: int
    mean_gain: float
    """Geometric mean over all sizes that were asked for or added of default's time over the file's."""
    held_out: int
    held_out_passed: int
    worst_held_out: float | None
    """The largest upper bound of a held-out size's ratio, among those within a range that was written."""
    seconds: float
    share: float
    """Of the time that all candidates in all cells would take, as thoroughly as what was decided; NaN where the budget
    ended before."""


def summarise(raced: Raced, verdicts: Sequence[SizeVerdict]) -> Summary:
    """The figures."""
    cells = [verdict for verdict in verdicts if not verdict.is_held_out]
    held_out = [verdict for verdict in verdicts if verdict.is_held_out]
    inside = [
        verdict.ratio.high
        for verdict in held_out
        if verdict.is_changed and verdict.ratio is not None
    ]
    everything = seconds_of_everything(raced)
    return Summary(
        cells=len(cells),
        changed=sum(cell.is_changed for cell in cells),
        mean_gain=mean_gain(cells),
        held_out=len(held_out),
        held_out_passed=len(inside),
        worst_held_out=max(inside, default=None),
        seconds=raced.seconds,
        share=raced.seconds / everything if everything > 0 and not raced.ran_out else math.nan,
    )


def mean_gain(verdicts: Sequence[SizeVerdict]) -> float:
    """Geometric mean of the gains."""
    logs = [math.log(verdict.gain) for verdict in verdicts]
    return math.exp(float(np.mean(logs))) if logs else 1.0


def seconds_of_everything(raced: Raced) -> float:
    """How many seconds all candidates take in each cell, in the launches that it took to decide, and held-out sizes.

    Candidates that crash or give wrong results are left out.
    """
    launches = dict.fromkeys(raced.cells, LOOKS[0])
    for point, logs in raced.confirmed.items():
        launches[point.cell] = max(launches.get(point.cell, 0), len(logs))
    # A file has one algorithm at a size, so as many files are in force as there are algorithms.
    candidates = max((len(state.fit) for state in raced.cells.values()), default=0)
    starts = 1 + candidates if raced.is_in_force else 1
    everything = starts * raced.start_seconds * max(launches.values(), default=0)
    for cell, state in raced.cells.items():
        if DEFAULT_NAME not in state.seconds:
            continue
        fit = set(state.fit) - raced.dropped.keys() - state.refused
        for name in (DEFAULT_NAME, *fit):
            seconds = _seconds_at(raced, state, name)
            calls = max(state.samples, FEWEST)
            once = trial_seconds(seconds) + calls * seconds
            everything += launches[cell] * len(raced.options.in_all_datatypes(cell)) * once
    return everything + raced.held_out_seconds


def _seconds_at(raced: Raced, state: CellState, name: str) -> float:
    """A call of a candidate in a cell; where it was not measured, by its ratio to the default at the sizes around.

    Of one that never was it is the median of those that were measured there.
    """
    medians = {candidate: float(np.median(seconds)) for candidate, seconds in state.seconds.items()}
    if name in medians:
        return medians[name]
    known = [
        (max(1, cell.message_bytes), other_state.seconds)
        for cell, other_state in raced.cells.items()
        if cell.ranks == state.cell.ranks and {name, DEFAULT_NAME} <= other_state.seconds.keys()
    ]
    if not known:
        return float(np.median(list(medians.values())))
    ratios = sorted(
        (size, float(np.median(seconds[name]) / np.median(seconds[DEFAULT_NAME])))
        for size, seconds in known
    )
    sizes, logs = np.log(np.array(ratios)).T
    here = math.log(max(1, state.cell.message_bytes))
    return medians[DEFAULT_NAME] * math.exp(float(np.interp(here, sizes, logs)))


def measured_to_json(
    operation: str, mpi: str, summary: Summary, verdicts: Sequence[SizeVerdict], raced: Raced
) -> dict[str, Any]:
    """The object of the schema; what is unknown is null."""
    return {
        "schema": SCHEMA,
        "operation": operation,
        "mpi": mpi,
        "datatypes": list(raced.options.datatypes),
        **members(summary, "cells", "changed"),
        "geometric_mean_gain": summary.mean_gain,
        "held_out": summary.held_out,
        "held_out_in_ranges": summary.held_out_passed,
        "worst_held_out_ratio": plain(summary.worst_held_out),
        "seconds": summary.seconds,
        "share_of_everything": plain(summary.share),
        "budget_ran_out": raced.ran_out,
        "wanted_budget_seconds": plain(raced.wanted_seconds),
        "left_out": raced.dropped,
        "default_mistakes": [mistake_to_json(mistake) for mistake in mistakes(verdicts)],
        "choices": [verdict_to_json(verdict) for verdict in verdicts],
    }


def mistake_to_json(mistake: Mistake) -> dict[str, Any]:
    """An entry of `default_mistakes`."""
    return {
        **members(mistake, "ranks", "first_bytes", "last_bytes"),
        "candidate": mistake.candidate.name,
        **members(mistake, "default_seconds", "factor", "factor_low"),
        "least_factor_beside": mistake.least_beside,
    }


def verdict_to_json(verdict: SizeVerdict) -> dict[str, Any]:
    """An entry of `choices`."""
    ratio = verdict.ratio
    return {
        "ranks": verdict.cell.ranks,
        "bytes": verdict.cell.message_bytes,
        "held_out": verdict.is_held_out,
        "candidate": verdict.candidate.name if verdict.candidate else None,
        "changed": verdict.is_changed,
        "default_seconds": plain(verdict.default_seconds),
        **ratio_to_json(ratio if ratio and ratio.launches else None),
        "by_datatype": {name: ratio_to_json(of) for name, of in verdict.by_datatype.items()},
        "launches": ratio.launches if ratio else 0,
    }
