"""`chiplog survey` as a function: plan, measure, and say what was found."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chiplog.dataset.run_file import read_run
from chiplog.machine_survey.lost import (
    LostNode,
    NodeLost,
    file_without,
    launcher_without,
    lost_node,
)
from chiplog.machine_survey.measurement import SurveyConditions, measure_sweep
from chiplog.machine_survey.nodes import node_names
from chiplog.machine_survey.plan import SurveyOptions
from chiplog.measurement.progress import ProgressBar
from chiplog.measurement.session import MARGIN_SECONDS
from chiplog.measurement.start import Start, launch_of
from chiplog.measurement.time_budget import NO_LIMITS, within
from chiplog.outside import as_integer

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset
    from chiplog.machine_survey.result import SurveyResult
    from chiplog.machine_survey.topology import Topology

DEFAULT_RANKS = 2
"""Derived: the fewest that are a pair."""
TASKS = ("-n", "-np", "--ntasks", "--n")
NODES = ("-N", "--nodes")
VARIABLES = ("SLURM_NTASKS", "SLURM_JOB_NUM_NODES")
RUN_FILE = "pairs.jsonl"
SIMULATED = "sim"
MARGIN_IN_TIME_LIMITS = 4.0
"""Given: times that a rank may wait for another, within one record: only then does the probe count as stuck."""


def ranks_to_plan(ranks: int | None, launcher: str | None) -> int:
    """Returns the number of ranks that was asked for, else the one that the launcher's words name, else 2."""
    return ranks if ranks is not None else ranks_of(launcher) or DEFAULT_RANKS


def ranks_of(launcher: str | None, environment: Mapping[str, str] = os.environ) -> int | None:
    """Returns the number of ranks that a launcher's words name; None where they name none.

    A number of tasks counts before one of nodes; a launcher of Slurm's without either takes those of its job.

    >>> ranks_of("srun -N 32")
    32
    >>> ranks_of("mpirun -np 4 --bind-to none")
    4
    """
    if launcher is None:
        return None
    try:
        words = shlex.split(launcher)
    except ValueError:
        return None
    for names in (TASKS, NODES):
        for name in names:
            count = _number_after(name, words)
            if count is not None:
                return count
    if words and os.path.basename(words[0]) == "srun":
        for variable in VARIABLES:
            number = as_integer(environment.get(variable, ""), 1)
            if number is not None:
                return number
    return None


def _number_after(name: str, words: list[str]) -> int | None:
    """Returns the number that follows an option as the next word, behind `=`, or, for a letter, at once."""
    joint = "=" if name.startswith("--") else "=?"
    for at, word in enumerate(words):
        following = words[at + 1] if word == name and at + 1 < len(words) else ""
        match = re.fullmatch(rf"{name}{joint}(\d+)", word)
        text = match[1] if match else following
        number = as_integer(text, 0)
        if number is not None:
            return number
    return None


def run_file_of(out: str | os.PathLike[str]) -> Path:
    """Returns the run file that `-o` names: itself, or a file in the folder of that name."""
    path = Path(out)
    return path if path.suffix == ".jsonl" else path / RUN_FILE


@dataclass(frozen=True)
class SurveyStart(Start):
    """How a survey's ranks are started, and how long they may take."""

    budget: float | None = None
    """Seconds for all but the start; None for as many as it takes."""
    ranks_are_given: bool = False


def survey(
    target: str,
    out: str | os.PathLike[str],
    options: SurveyOptions,
    start: SurveyStart = SurveyStart(),
    *,
    resume: bool = False,
    topology: str | os.PathLike[str] | None = None,
) -> SurveyResult:
    """Measure every pair of the ranks that are started for `target`, by the plan that `options` make.

    `out` is a folder or a run file; see `chiplog.machine_survey.measurement` for what `resume` does and what is raised.
    `topology` is a topology.conf, which the measured leaves are held against; without it, under Slurm, what Slurm
    itself declares.

    Where a node is lost and the launcher is srun, the other nodes are measured anew without it, into a file of
    their own.
    """
    declared = _Declared(topology, start.launcher)
    part = _SweepPart(options, run_file_of(out), start, resume)
    dataset, lost = _whoever_is_lost(_measured_by(target, part, declared), part)
    # NumPy, which the ranks' start need not wait for
    from chiplog.machine_survey.result import survey_result

    tree = declared.topology_for(node_names(dataset.header))
    return replace(survey_result(dataset, tree, lost), note=declared.note)


def _measured_by(
    target: str, whole: _SweepPart, declared: _Declared
) -> Callable[[_SweepPart], Dataset]:
    """Returns what starts ranks for a part of a survey and measures it; all parts together have the time limit."""
    start, options = whole.start, whole.options
    has_limit = start.budget is not None and options.transport != SIMULATED
    limits = within(start.budget or 0.0) if has_limit else NO_LIMITS

    def measure(part: _SweepPart) -> Dataset:
        launch = launch_of(target, part.options.ranks, part.start, seed=options.seed)
        margin_seconds = MARGIN_SECONDS + MARGIN_IN_TIME_LIMITS * start.time_limit
        with ProgressBar(target) as watcher:
            conditions = SurveyConditions(
                part.resume,
                watcher,
                limits,
                part.start.ranks_are_given,
                declared.leaves_of,
                margin_seconds,
            )
            return measure_sweep(target, part.options, part.path, launch, conditions)

    return measure


class _Declared:
    """What the machine is declared as: by a file that was given, which is read at once, or under Slurm by Slurm."""

    def __init__(self, file: str | os.PathLike[str] | None, launcher: str | None) -> None:
        self._launcher = launcher
        self._known: Topology | None = None
        self._has_asked = file is not None
        self.note: str | None = None
        """Why a file that Slurm has was not used."""
        if file is not None:
            from chiplog.machine_survey.topology import read_topology

            self._known = read_topology(file)

    def topology_for(self, nodes: tuple[str, ...]) -> Topology | None:
        """Returns the declared topology; None where nothing is declared; Slurm is asked once."""
        if not self._has_asked:
            from chiplog.machine_survey.topology import is_under_slurm, topology_of_slurm

            if is_under_slurm(self._launcher):
                self._known, self.note = topology_of_slurm(nodes)
        self._has_asked = True
        return self._known

    def leaves_of(self, nodes: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
        """Returns each node's leaf by number, and the leaves' names; nodes that are not declared share a number.

        UsageError as `leaf_numbers`.
        """
        known = self.topology_for(nodes)
        if known is None:
            return None
        from chiplog.machine_survey.topology import leaf_numbers

        leaves, names = leaf_numbers(known, nodes)
        return tuple(leaves.tolist()), names


@dataclass(frozen=True)
class _SweepPart:
    """A sweep over the nodes that are left."""

    options: SurveyOptions
    path: Path
    start: SurveyStart
    resume: bool


def _whoever_is_lost(
    measure: Callable[[_SweepPart], Dataset], whole: _SweepPart
) -> tuple[Dataset, tuple[LostNode, ...]]:
    """Measures the whole, and where a node is lost, the rest anew without it; with the nodes that were lost.

    NodeLost where too few are left, or where the launcher can't be told to leave a node out.
    """
    lost: list[LostNode] = []
    part = whole
    while True:
        try:
            return measure(part), tuple(lost)
        except NodeLost as error:
            nodes = [*(node.node for node in lost), error.node]
            launcher = launcher_without(whole.start.launcher, nodes, error.ranks - 1)
            if launcher is None:
                raise
            lost.append(lost_node(error, read_run(part.path)))
            path = file_without(whole.path, nodes)
            options = replace(part.options, ranks=error.ranks - 1, leaves=None, leaf_names=None)
            start = replace(whole.start, launcher=launcher, ranks_are_given=True)
            part = _SweepPart(options, path, start, resume=path.exists())
