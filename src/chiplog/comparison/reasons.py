"""The words of a comparison of runs: verdicts, what they rest on, and what would tell more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, replace

import numpy as np

from chiplog.comparison.chance import Common, are_imported
from chiplog.comparison.result import RunRow
from chiplog.comparison.row_noise import RowNoise
from chiplog.counts import counted
from chiplog.dataset.series import Dataset, Reference
from chiplog.fitting.text import seconds_text
from chiplog.fitting.verdict import busy_text
from chiplog.machine_state.load import machine_load
from chiplog.machine_state.noise import LAUNCHES_DIFFER
from chiplog.machine_state.states import common_reference, same_state


def judge(ratio: float, low: float, high: float, tolerance: float) -> tuple[str, str]:
    """Verdict and reason for one ratio with its interval.

    >>> judge(1.2, 1.1, 1.3, 0.05)[0]
    'slower'
    >>> judge(1.2, 0.9, 1.5, 0.05)[0]
    'unclear'
    """
    if not math.isfinite(high):
        return "unclear", f"{_percent(ratio)}: a single visit does not tell chance from change."
    change = f"{_percent(ratio)} ({_percent(low, '')} to {_percent(high)})"
    if low > 1.0 and ratio >= 1.0 + tolerance:
        return "slower", f"{change}: all of the interval is above 0."
    if high < 1.0 and ratio <= 1.0 - tolerance:
        return "faster", f"{change}: all of the interval is below 0."
    if low >= 1.0 - tolerance and high <= 1.0 + tolerance:
        return "same", f"{change}: all of the interval is within {100 * tolerance:.3g} %."
    return (
        "unclear",
        f"{change}: the interval holds both no difference and one above {100 * tolerance:.3g} %.",
    )


def _percent(ratio: float, unit: str = " %") -> str:
    return f"{round(100 * (ratio - 1), 1) + 0.0:+.1f}{unit}"  # + 0.0: never -0.0


def counts(rows: Sequence[RunRow]) -> str:
    """How many rows have which verdict."""
    number = {
        verdict: sum(row.verdict == verdict for row in rows)
        for verdict in ("slower", "faster", "same", "unclear")
    }
    parts = ", ".join(f"{count} {verdict}" for verdict, count in number.items() if count)
    return f" Of {counted(len(rows), 'row')}: {parts}."


def judge_whole(whole: RunRow, rows: Sequence[RunRow]) -> RunRow:
    """The row over all others as it follows from them.

    A difference that no row alone shows is named as what it is: the evidence of all rows together. It is unclear where
    rows only differ the other way.
    """
    verdicts = {row.verdict for row in rows}
    if whole.verdict not in ("slower", "faster") or whole.verdict in verdicts:
        return replace(whole, reason=whole.reason + counts(rows))
    if verdicts & {"slower", "faster"}:
        other = " The only rows that differ do so the other way, so the whole is unclear."
        return replace(whole, verdict="unclear", reason=whole.reason + counts(rows) + other)
    pooled = f" No row alone is {whole.verdict}: only all rows together are."
    return replace(whole, reason=whole.reason + counts(rows) + pooled)


def load_text(runs: Sequence[Dataset]) -> str:
    """A sentence that names the runs during which the machine was busy; empty where it was idle in both."""
    loads = zip("AB", map(busy_text, map(machine_load, runs)), strict=True)
    busy = [f"during run {name} ({load})" for name, load in loads if load is not None]
    if not busy:
        return ""
    return (
        f" The machine was busy {' and '.join(busy)}, which alone may make a difference; measure again when it is "
        "idle."
    )


def noise_text(noise: RowNoise, runs: Sequence[Dataset]) -> str:
    """A sentence on the scatter of single values; empty where visits or launches tell the noise."""
    if noise.is_repeated:
        return ""
    whose = "tables" if are_imported(runs) else "runs"
    scatter = [100 * error / math.sqrt(2.0) for error in noise.errors.values()]
    low, high = (f"{value:.2g}" for value in (min(scatter), max(scatter)))
    span = low if low == high else f"{low} to {high}"
    return f" One value a size has a scatter of {span} %, taken from the {whose} themselves."


def posts_text(runs: Sequence[Dataset]) -> str:
    """Why a post or a receive of few launches is unclear."""
    how = REPEAT_IMPORTS if are_imported(runs) else "--launches 3 for both runs does"
    return (
        " The time of such a call depends on where a launch has its memory, and one or two launches do not tell that "
        f"from a change; {how}."
    )


def row_text(noise: RowNoise, runs: Sequence[Dataset]) -> str:
    """Why a row alone is unclear where each size has one value, and what would tell more."""
    if noise.is_repeated:
        return ""
    if are_imported(runs):
        return " One size alone may be an outlier of a factor of two: repeat it, or measure sizes around it."
    return " More visits tell: --visits 4."


def advice(runs: Sequence[Dataset], common: Common) -> str:
    """What bounds the whole, and what would tell more, in words of these runs' kinds."""
    imported = are_imported(runs)
    text = ""
    if common.is_slow:
        text += (
            " The times drift as slowly as a run is long, so one run tells little of the next; measure both for "
            "several times as long, with a larger --budget and more --visits."
        )
    if common.is_given:
        differ = f"{100 * (math.exp(LAUNCHES_DIFFER) - 1):.0f} %"
        how = REPEAT_IMPORTS if imported else "measure both runs with --launches 5"
        text += f" Two launches of one system differ by up to {differ}; to see less, {how}."
    return text


REPEAT_IMPORTS = "import several repetitions of each benchmark, one below the other in a file"


def other_state(a: Dataset, b: Dataset) -> str:
    """A sentence if the references are of different states. It decides nothing: other software differs in them, too."""
    before, after = (common_reference(run.series) for run in (a, b))
    if before is None or after is None or same_state(before, after):
        return ""
    return (
        " Either what moves the messages is different, or the machine was in another state: half round trip, gap and "
        f"overhead of the reference were {_reference_text(before)} in A and {_reference_text(after)} in B."
    )


def _reference_text(reference: Reference) -> str:
    return ", ".join(seconds_text(part) for part in astuple(reference))


def placement_doubt(a: Dataset, b: Dataset) -> tuple[float, str]:
    """Log ratio of the two runs' flag exchanges and a sentence, where the cores were placed otherwise; else 0, none."""
    before, after = (_flag_seconds(run) for run in (a, b))
    if not before or not after or abs(math.log(after / before)) <= LAUNCHES_DIFFER:
        return 0.0, ""
    return abs(math.log(after / before)), (
        f" The cores were in different placement states: a bare flag took {seconds_text(before)} in A and "
        f"{seconds_text(after)} in B."
    )


def _flag_seconds(run: Dataset) -> float:
    seen = [series.placement_seconds for series in run.series if series.placement_seconds]
    return float(np.median(seen)) if seen else 0.0
