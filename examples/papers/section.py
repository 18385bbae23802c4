"""What a section of a page is, how its runs are measured, and how its picture is drawn."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import chiplog
from chiplog.api.fitted import FittedModel
from chiplog.dataset.series import Dataset
from chiplog.fitting.result import Curve
from chiplog.models.colours import BLUE, GREEN, ORANGE, PURPLE, SKY

COLOURS = tuple(colour.light for colour in (BLUE, ORANGE, GREEN, PURPLE, SKY))


class NotHere(Exception):
    """A section's measurements are not on this machine: its page keeps what was drawn where they were."""


@dataclass(frozen=True)
class Section:
    """A figure or table of a document as chiplog makes it.

    `draw` draws on matplotlib axes and returns what is shown, as Markdown with its numbers; `picture` is false of
    tables, whose `draw` gets None.
    """

    key: str
    title: str
    says: str
    commands: tuple[str, ...]
    draw: Callable[[Any], str]
    differs: str
    picture: bool = True


def measured(
    target: str,
    pattern: str,
    sizes: str,
    ranks: int,
    seed: int,
    budget_seconds: float | None = 60,
) -> str:
    """The command that measures what `run_of` measures.

    The budget is larger than any run needs: what ends at chiplog's default one depends on how busy the machine is, and
    pictures are to be the same each time.
    """
    budget = "" if budget_seconds is None else f" --budget {budget_seconds:g}"
    return (
        f"chiplog measure {shlex.quote(target)} --pattern {pattern} --sizes {sizes} "
        f"--ranks {ranks} --seed {seed}{budget} -o run.jsonl"
    )


@cache
def run_of(command: str) -> Dataset:
    """The samples of a command that `measured` wrote.

    Raises RuntimeError where the budget ended a record on a simulated network: another build would draw other samples.
    """
    words = shlex.split(command)
    option = {words[i]: words[i + 1] for i in range(3, len(words), 2)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        run = chiplog.measure(
            words[2],
            file,
            sizes=option["--sizes"],
            patterns=option["--pattern"],
            ranks=int(option["--ranks"]),
            seed=int(option["--seed"]),
            budget=float(option["--budget"]) if "--budget" in option else None,
        )
        if words[2].startswith("sim:") and '"stopped":"budget"' in file.read_text():
            raise RuntimeError(f"The budget ended a record; give a larger one to: {command}")
    return run


@cache
def fit_of(command: str, model: str) -> FittedModel:
    """A model fitted to what a command measures."""
    return chiplog.fit(run_of(command), model)


def curve(fit: FittedModel, quantity: str) -> Curve:
    """A measured curve of a fit."""
    return next(
        measured_curve
        for measured_curve in fit.details.curves
        if measured_curve.quantity == quantity
    )


def legend_above(axes: Any) -> None:
    """Put the legend above the axes in one line, where it hides no curve."""
    entries = len(axes.get_legend_handles_labels()[0])
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=entries, fontsize=8, frameon=False,
        columnspacing=1.2,
    )  # fmt: skip


def points(
    axes: Any,
    x: Any,
    measured_curve: Curve,
    scale: float,
    label: str,
    colour: str,
    ends: Sequence[float],
) -> None:
    """Measured medians with their 95 % intervals, and a fitted line a regime, each up to one of the `ends`."""
    middle = measured_curve.measured_seconds * scale
    below = (middle - measured_curve.low_seconds * scale).clip(0)
    above = (measured_curve.high_seconds * scale - middle).clip(0)
    axes.errorbar(
        x, middle, yerr=[below, above], fmt="o", ms=3, lw=1, color=colour,
        label=f"{label}, measured (95 % interval)",
    )  # fmt: skip
    first = 0.0
    for last in ends:
        inside = (x > first) & (x <= last)
        line = measured_curve.predicted_seconds[inside] * scale
        name = "" if first else f"{label}, fitted"
        axes.plot(x[inside], line, color=colour, label=name)
        first = last


def write_picture(section: Section, path: Path) -> str:
    """Draw a section's picture into an SVG file, the same bytes each time; returns what it shows."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams |= {"svg.hashsalt": "chiplog", "svg.fonttype": "none", "font.size": 9}
    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    shows = section.draw(axes)
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0] and axes.get_legend() is None:
        axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    drawn = re.sub(r"[ \t]+$", "", path.read_text(), flags=re.MULTILINE)
    path.write_text(re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.5g}", drawn))
    return shows
