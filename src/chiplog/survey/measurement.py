"""Measuring a survey: every record goes to the run file before anything else is done with it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chiplog.dataset.run_file import RunWriter, refuse_existing
from chiplog.dataset.series import Dataset, Series
from chiplog.errors import ChiplogError, RankLost, RunFailed, UsageError
from chiplog.measure.interrupt import InterruptGuard
from chiplog.measure.limits import MOST_START_SECONDS, NO_LIMITS, Limits
from chiplog.measure.measuring import Launch
from chiplog.measure.progress import Silent, Watcher
from chiplog.measure.session import Session
from chiplog.plan.request import Request
from chiplog.survey.lost import NodeLost
from chiplog.survey.nodes import are_same_hosts, node_names, refuse_ambiguous
from chiplog.survey.plan import SurveyOptions, Sweep, make_sweep, predicted_seconds

LeavesOf = Callable[[tuple[str, ...]], tuple[tuple[int, ...], tuple[str, ...]] | None]
_RANK = re.compile(r"\b[Rr]ank (\d+)\b")
_NO_TIME = "time did not suffice for all rounds"


def _no_leaves(_: tuple[str, ...]) -> None:
    """Returns nothing, as where no leaves are declared."""


@dataclass(frozen=True)
class SurveyConditions:
    """What holds while a survey is measured, besides its plan."""

    resume: bool = False
    """Whether exactly the missing records are measured, by the plan that the file was begun with."""
    ranks_are_given: bool = True
    """If not, a new sweep is planned for as many ranks as have started."""
    leaves_of: LeavesOf = _no_leaves
    """The declared leaves of the nodes that have started, and these leaves' names; rounds fill uplinks by them."""
    watcher: Watcher = field(default_factory=Silent)
    limits: Limits = NO_LIMITS
    """When their time is over, the rest is left to `--resume`."""
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
    with InterruptGuard() as guard:
        run = _SweepRunFile(target, options, out, guard, conditions)
        run.begin()
        run.measure(launch)
    return run.dataset(complete=run.is_complete)


@dataclass
class _SweepRunFile:
    """One run file while it grows."""

    target: str
    options: SurveyOptions
    out: Path
    guard: InterruptGuard
    conditions: SurveyConditions
    writer: RunWriter | None = None
    header: Mapping[str, Any] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    is_complete: bool = False

    def begin(self) -> None:
        """Open the file that is there, or make sure that there is none."""
        if not self.conditions.resume:
            _refuse_unwritable(self.out)
            refuse_existing(self.out)
            return
        self.writer = RunWriter.resume(self.out)
        kept = self.writer.kept
        assert kept is not None
        self.series, self.header = list(kept.series), kept.header
        try:
            if self.header["target"] != self.target:
                raise UsageError(
                    f"--resume: {self.out} was measured on {self.header['target']}, not on {self.target}."
                )
            stored = self.header.get("plan")
            self.options = SurveyOptions.from_json(
                stored if isinstance(stored, Mapping) else {}, str(self.out)
            )
        except ChiplogError:
            self.writer.close()
            raise

    def measure(self, launch: Launch) -> None:
        """Start the ranks once and take the records that are missing."""
        if self.writer is not None and self.writer.complete:
            self.writer.close()
            self.is_complete = True
            return
        try:
            self._with_ranks(launch)
        except BaseException as error:
            if self.writer is not None:
                self.writer.__exit__(type(error), error, error.__traceback__)
                if isinstance(error, UsageError) and not self.writer.records:
                    self.out.unlink(missing_ok=True)  # refused at once: nothing was measured
            raise
        assert self.writer is not None
        self.writer.finish(
            complete=self.is_complete, reason="done" if self.is_complete else _NO_TIME
        )

    def _with_ranks(self, launch: Launch) -> None:
        began = time.monotonic()
        with self.guard.waiting():
            session = launch(
                1 + max((series.launch for series in self.series), default=-1)
            ).__enter__()
        started = min(time.monotonic() - began, MOST_START_SECONDS)
        self.conditions = replace(self.conditions, limits=self.conditions.limits.later(started))
        try:
            self._check_ranks(session.header)
            if self.writer is None:
                leaves, names = self.conditions.leaves_of(tuple(node_names(session.header))) or (
                    None,
                    None,
                )
                self.options = replace(self.options, leaves=leaves, leaf_names=names)
                self.header = {**session.header, "plan": self.options.to_json()}
                self.out.parent.mkdir(parents=True, exist_ok=True)
                self.writer = RunWriter.create(self.out, self.header)
            self.is_complete = self._sweep(session, make_sweep(self.options), self.writer)
        except BaseException as error:
            session.__exit__(type(error), error, error.__traceback__)
            raise
        session.__exit__(None, None, None)

    def _check_ranks(self, header: Mapping[str, Any]) -> None:
        refuse_ambiguous(header)
        if self.writer is not None and not are_same_hosts(
            header.get("hosts"), self.header.get("hosts")
        ):
            raise UsageError(
                f"--resume: {self.out} was measured on other hosts ({_few(self.header.get('hosts'))}) than those of "
                f"now ({_few(header.get('hosts'))}): take the same ones, or begin a new file."
            )
        started = int(header["ranks"])
        if started == self.options.ranks:
            return
        if self.conditions.ranks_are_given or self.conditions.resume or self.writer is not None:
            raise UsageError(
                f"--ranks: the launcher started {started} ranks, not {self.options.ranks}; say how many it starts."
            )
        self.options = replace(self.options, ranks=started)

    def _sweep(self, session: Session, sweep: Sweep, writer: RunWriter) -> bool:
        """Measures what is missing of the three stages; returns whether that was all."""
        if not self._measure_all(session, sweep.requests, writer):
            return False
        if not self.options.judges:
            return True
        # NumPy, which the ranks' start need not wait for
        from chiplog.survey.choice import choose_confirmation, choose_isolation

        first_number = len(sweep.requests)
        if self.options.has_confirmation:
            confirmation = choose_confirmation(self.dataset(), sweep)
            if not self._measure_all(session, confirmation, writer):
                return False
            first_number += len(confirmation)
        isolation = choose_isolation(self.dataset(), sweep, first_number)
        return self._measure_all(session, isolation, writer)

    def _measure_all(
        self, session: Session, requests: Sequence[Request], writer: RunWriter
    ) -> bool:
        todo = [planned for planned in requests if planned.id not in writer.finished]
        transport = self.options.transport
        self.conditions.watcher.expect(*(predicted_seconds(waiting, transport) for waiting in todo))
        for request in todo:
            if self.conditions.limits.is_past_last and writer.records:
                return False
            with self.guard.waiting():
                line = self._answer(session, request)
            self.series += writer.append_raw(line)
            self.conditions.watcher.done(
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
        names = node_names(self.header)
        ranks = dict.fromkeys(int(number) for number in _RANK.findall(sentence))
        known = [f"rank {rank} is {names[rank]}" for rank in ranks if rank < len(names)]
        reason = sentence + (f" ({', '.join(known)})" if known else "")
        kept = self.writer.records if self.writer else 0
        loss = (
            f"{reason}. The {kept} finished records are kept in {self.out}: --resume measures the rest once all "
            "nodes are back; without one of them, begin a new file."
        )
        if isinstance(error, RankLost) and error.rank < len(names):
            return NodeLost(loss, node=names[error.rank], reason=reason, ranks=len(names))
        return RunFailed(loss)

    def dataset(self, *, complete: bool = False) -> Dataset:
        """Returns all that is in the file."""
        return Dataset(self.header, tuple(self.series), complete, str(self.out))


def _refuse_unwritable(out: Path) -> None:
    """Raises UsageError where the run file can't be made, before ranks are started for it."""
    there = next(folder for folder in out.absolute().parents if os.path.lexists(folder))
    if not there.is_dir():
        raise UsageError(f"-o: {there} is no folder, so {out} can't be made: name another one.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(
            f"-o: {there} can't be written, so {out} can't be made: name another folder, or ask for its permission."
        )


def _few(hosts: object, most: int = 4) -> str:
    names = [str(host) for host in hosts] if isinstance(hosts, Sequence) else []
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
