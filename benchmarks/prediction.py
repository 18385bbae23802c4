"""How well fitted models predict sizes that were held out, over many default runs.

    python benchmarks/prediction.py --runs 15 --busy 5 -o FOLDER      runs `chiplog run` so often, then judges
    python benchmarks/prediction.py --judge FOLDER/*/                 judges runs that are there

For each run and target: 5 folds of sizes, each predicted by models that were fitted to the others; the error of half
round trips and of trains, medians over the sizes. Beside them what no model can beat (repeatability: how far two
visits of a size in one state differ) and what plain lines reach, and the share of held-out medians within their 95 %
prediction intervals.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chiplog._native import Limits, Segmenter
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import ChiplogError
from chiplog.fitting.fit import fit
from chiplog.fitting.predictions.predictor import (
    HALF_ROUND_TRIP,
    TRAIN,
    measured_points,
    predictor,
)
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.machine_state.repeatability import repeatability
from chiplog.machine_state.states import in_one_state
from chiplog.protocol_changes.find import find_changes

Floats = NDArray[np.float64]

FAMILY = ("loggops", "loggp", "loggps")
FOLDS = 5
LINES = "plain lines"
QUANTITIES = (HALF_ROUND_TRIP, TRAIN)
_LIMITS = Limits(
    min_bytes=1.0, min_points=3, min_factor=1.0, min_points_sparse=3, min_factor_sparse=1.0
)


@dataclass(frozen=True)
class Judged:
    """Relative errors of one model on one quantity at held-out sizes, and which lie in their prediction interval."""

    error: Floats
    inside: NDArray[np.bool_]

    @property
    def median(self) -> float:
        return float(np.median(np.abs(self.error))) if self.error.size else np.nan


def judge(dataset: Dataset) -> dict[tuple[str, str], Judged]:
    """By model and quantity, over all folds."""
    limits = [one.last_before_bytes for one in find_changes(dataset).consensus]
    chosen = in_one_state(dataset).dataset
    grid = replace(
        chosen, series=tuple(s for s in chosen.series if s.tag.get("purpose", "grid") == "grid")
    )
    sizes = [int(size) for size in grid.sizes() if size > 0]
    errors: dict[tuple[str, str], list[Floats]] = {}
    inside: dict[tuple[str, str], list[NDArray[np.bool_]]] = {}
    for fold in range(FOLDS):
        held = set(sizes[fold::FOLDS])
        training = replace(
            grid, series=tuple(s for s in grid.series if s.message_bytes not in held)
        )
        asked = replace(grid, series=tuple(s for s in grid.series if s.message_bytes in held))
        measured = MeasuredSeries(asked, "median", 0, replicates=2)
        trained = MeasuredSeries(training, "median", 0, replicates=2)
        fits = fit(training, FAMILY, boundaries=limits, seed=1)
        for quantity in QUANTITIES:
            found = measured_points(measured, quantity)
            for one in fits:
                predicted = predictor(one)(found.points)
                off = predicted / found.seconds - 1.0
                band = next((b for b in one.bands if b.quantity == quantity), None)
                width = band.at(found.points.message_bytes) if band else np.full(off.size, np.nan)
                key = (one.model, quantity)
                errors.setdefault(key, []).append(off)
                inside.setdefault(key, []).append(np.abs(found.seconds / predicted - 1.0) <= width)
            known = measured_points(trained, quantity)
            lines = _plain_lines(known.points.message_bytes, known.seconds)
            off = lines(found.points.message_bytes) / found.seconds - 1.0
            errors.setdefault((LINES, quantity), []).append(off)
            inside.setdefault((LINES, quantity), []).append(np.zeros(off.size, dtype=bool))
    return {key: Judged(np.concatenate(errors[key]), np.concatenate(inside[key])) for key in errors}


def _plain_lines(sizes: NDArray[np.int64], seconds: Floats):  # type: ignore[no-untyped-def]
    """Lines by dynamic programming over relative squares; BIC with three parameters each says how many, up to 8."""
    x = np.maximum(sizes.astype(np.float64), 0.5)
    segmenter = Segmenter(x, seconds, seconds**-2.0, _LIMITS)
    solved = segmenter.solve(8)
    count = x.size

    def bic(number: int) -> float:
        cost = max(solved[number][0], 1e-12)
        return float(count * np.log(cost / count) + 3 * (number + 1) * np.log(count))

    begins = solved[min(range(len(solved)), key=bic)][1]
    ends = [*begins, count]
    lines = np.array([segmenter.line(a, b) for a, b in pairwise(ends)])
    starts = np.array([0.0, *(np.sqrt(x[b - 1] * x[b]) for b in begins[1:])])

    def at(asked: NDArray[np.int64]) -> Floats:
        place = np.searchsorted(starts, asked, side="right") - 1
        return np.asarray(lines[place, 0] + lines[place, 1] * asked)

    return at


@contextmanager
def _busy(wanted: bool) -> Iterator[None]:
    program = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if wanted else None
    try:
        yield
    finally:
        if program is not None:
            program.kill()
            program.wait()


def _measure(folder: Path, runs: int, busy: int) -> list[Path]:
    found = []
    for number in range(runs + busy):
        name = f"busy-{number - runs + 1}" if number >= runs else f"run-{number + 1}"
        path = folder / name
        began = time.monotonic()
        with _busy(number >= runs):
            done = subprocess.run(
                ["chiplog", "run", "-o", str(path)], capture_output=True, text=True, check=False
            )
        path.mkdir(parents=True, exist_ok=True)
        (path / "terminal.txt").write_text(done.stdout + done.stderr)
        print(f"{name}: exit {done.returncode} after {time.monotonic() - began:.0f} s", flush=True)
        found.append(path)
    return found


def _report(folder: Path) -> None:
    for path in sorted((folder / "runs").glob("*.jsonl")):
        if "-" in path.stem:
            continue
        try:
            dataset = read_run(path)
            began = time.monotonic()
            judged = judge(dataset)
            repeated = dict(zip(QUANTITIES, astuple(repeatability(dataset)), strict=True))
        except ChiplogError as error:
            print(f"{folder.name:8} {path.stem:4} NOT FITTED: {error}", flush=True)
            continue
        for quantity in QUANTITIES:
            family = {
                model: judged[model, quantity] for model in FAMILY if (model, quantity) in judged
            }
            best = min(family, key=lambda model: family[model].median)
            lines = judged[LINES, quantity].median
            print(
                f"{folder.name:8} {path.stem:4} {quantity:15} best {best:8} {100 * family[best].median:5.1f} %"
                f"  repeatability {100 * (repeated[quantity] or np.nan):5.1f} %  plain lines {100 * lines:5.1f} %"
                f"  inside {100 * np.mean(family[best].inside):5.1f} % of {family[best].error.size}"
                + "".join(f"  {m} {100 * one.median:.1f}" for m, one in family.items())
                + f"  {time.monotonic() - began:.1f} s",
                flush=True,
            )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--busy", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/prediction"))
    parser.add_argument("--judge", type=Path, nargs="+")
    options = parser.parse_args(arguments)
    folders = options.judge or _measure(options.output, options.runs, options.busy)
    for folder in folders:
        _report(folder)


if __name__ == "__main__":
    main()
