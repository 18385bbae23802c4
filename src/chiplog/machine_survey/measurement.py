"""Measuring a survey: its ranks start once, and take the records of its three stages that are missing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from chiplog.counts import counted
from chiplog.dataset.series import Dataset
from chiplog.errors import RankLost, RunFailed, UsageError
from chiplog.machine_survey.lost import NodeLost
from chiplog.machine_survey.nodes import are_same_hosts, node_names, refuse_ambiguous
from chiplog.machine_survey.plan import SurveyOptions, Sweep, make_sweep, predicted_seconds
from chiplog.machine_survey.settings import SETTINGS
from chiplog.measurement.recorder import RunConditions, RunRecorder
from chiplog.measurement.session import Launch, Session
from chiplog.plan.request import Request

LeavesOf = Callable[[tuple[str, ...]], tuple[tuple[int, ...], tuple[str, ...]] | None]
_RANK = re.compile(r"\b[Rr]ank (\d+)\b")


def _no_leaves(_: tuple[str, ...]) -> None:
    """Returns nothing, as where no leaves are declared."""


@dataclass(frozen=True)
class SurveyConditions(RunConditions):
    """What holds while a survey is measured, besides its plan."""

    ranks_are_given: bool = True
    """If not, a new sweep is planned for as many ranks as have started."""
    leaves_of: LeavesOf = _no_leaves
    """The declared leaves of the nodes that have started, and these leaves' names; rounds fill uplinks by them."""
    margin_seconds: float | None = None
    """How much longer than planned a record may take."""


def measure_sweep(
    target: str,
    options: SurveyOptions,
    out: Path,
    launch: Launch,
    conditions: SurveyConditions = SurveyConditions(),
) -> Dataset:
    """Measure the sweep that `options` make, write the run file `out`, and return what is in it.

    Raises UsageError where `out` exists (or, to resume, is another survey's), where the number of ranks is not
    the planned one, or where host names are ambiguous; NodeLost where a node is lost, RunFailed where the disk is;
    KeyboardInterrupt when interrupted. All finished records are kept.
    """
    if not conditions.resume:
        _refuse_unwritable(out)
    with RunRecorder(target, out, launch, conditions) as recorder:
        run = _SweepRun(recorder, options, conditions)
        recorder.begin(run.read_plan)
        is_complete = recorder.is_complete or run.measure()
    return recorder.dataset(complete=is_complete)


@dataclass
class _SweepRun:
    """A survey while it is measured."""

    recorder: RunRecorder
    options: SurveyOptions
    conditions: SurveyConditions

    def read_plan(self, stored: object) -> None:
        """Goes on with the plan that a file was begun with."""
        plan = stored if isinstance(stored, Mapping) else {}
        self.options = SurveyOptions.from_json(plan, str(self.recorder.out))

    def measure(self) -> bool:
        """Starts the ranks once and takes the records that are missing; returns whether that was all."""
        recorder = self.recorder
        launch = 1 + max((series.launch for series in recorder.series), default=-1)
        with recorder.recording(), recorder.ranks(launch) as session:
            self._check_ranks(session.header)
            if not recorder.has_file:
                leaves, names = self.conditions.leaves_of(tuple(node_names(session.header))) or (
                    None,
                    None,
                )
                self.options = replace(self.options, leaves=leaves, leaf_names=names)
                recorder.out.parent.mkdir(parents=True, exist_ok=True)
                recorder.create({**session.header, "plan": self.options.to_json()})
            is_complete = self._sweep(session, make_sweep(self.options))
        recorder.finish(unreached=None if is_complete else "rounds")
        return is_complete

    def _check_ranks(self, header: Mapping[str, Any]) -> None:
        refuse_ambiguous(header)
        hosts = self.recorder.header.get("hosts")
        if self.recorder.has_file and not are_same_hosts(header.get("hosts"), hosts):
            raise UsageError(
                f"--resume: {self.recorder.out} was measured on other hosts ({_few(hosts)}) than those of "
                f"now ({_few(header.get('hosts'))}): take the same ones, or begin a new file."
            )
        started = int(header["ranks"])
        if started == self.options.ranks:
            return
        if self.conditions.ranks_are_given or self.recorder.has_file:
            raise UsageError(
                f"--ranks: the launcher started {started} ranks, not {self.options.ranks}; say how many it starts."
            )
        self.options = replace(self.options, ranks=started)

    def _sweep(self, session: Session, sweep: Sweep) -> bool:
        """Measures what is missing of the three stages; returns whether that was all."""
        if not self._measure_all(session, sweep.requests):
            return False
        if not self.options.judges:
            return True
        # NumPy, which the ranks' start need not wait for
        from chiplog.machine_survey.choice import choose_confirmation, choose_isolation

        first_number = len(sweep.requests)
        if self.options.has_confirmation:
            confirmation = choose_confirmation(self.recorder.dataset(), sweep)
            if not self._measure_all(session, confirmation):
                return False
            first_number += len(confirmation)
        isolation = choose_isolation(self.recorder.dataset(), sweep, first_number)
        return self._measure_all(session, isolation)

    def _measure_all(self, session: Session, requests: Sequence[Request]) -> bool:
        recorder, transport = self.recorder, self.options.transport
        todo = [planned for planned in requests if planned.id not in recorder.finished]
        recorder.watcher.expect(*(predicted_seconds(waiting, transport) for waiting in todo))
        for request in todo:
            if recorder.limits.is_past_last and recorder.records:
                return False
            recorder.record(partial(self._answer, session, request))
            recorder.watcher.done(
                predicted_seconds(request, transport), f"round {request.series[0].round}"
            )
        return True

    def _answer(self, session: Session, request: Request) -> str:
        try:
            return session.measure(request, margin_seconds=self.conditions.margin_seconds)
        except RunFailed as error:
            raise self._with_names(error) from error

    def _with_names(self, error: RunFailed) -> RunFailed:
        """Returns an error with the names of the nodes whose ranks it speaks of, and what to do."""
        sentence = str(error).rstrip(".")
        names = node_names(self.recorder.header)
        ranks = dict.fromkeys(int(number) for number in _RANK.findall(sentence))
        known = [f"rank {rank} is {names[rank]}" for rank in ranks if rank < len(names)]
        reason = sentence + (f" ({', '.join(known)})" if known else "")
        finished = counted(self.recorder.records, "finished record is", "finished records are")
        loss = (
            f"{reason}. The {finished} kept in {self.recorder.out}: --resume "
            "measures the rest once all nodes are back; without one of them, begin a new file."
        )
        if isinstance(error, RankLost) and error.rank < len(names):
            return NodeLost(loss, node=names[error.rank], reason=reason, ranks=len(names))
        return RunFailed(loss)


def _refuse_unwritable(out: Path) -> None:
    """Raises UsageError where the run file can't be made, before ranks are started for it."""
    there = next(folder for folder in (*out.parents, Path.cwd()) if os.path.lexists(folder))
    if not there.is_dir():
        raise UsageError(f"-o: {there} is no folder, so {out} can't be made: name another one.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(
            f"-o: {there} can't be written, so {out} can't be made: name another folder, or ask for its permission."
        )


def _few(hosts: object) -> str:
    names = [str(host) for host in hosts] if isinstance(hosts, Sequence) else []
    return ", ".join(names[: SETTINGS.most_names]) + (
        ", ..." if len(names) > SETTINGS.most_names else ""
    )
