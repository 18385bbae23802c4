"""Runs of collective calls with a tuning file, and how each call ended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chiplog.errors import RunFailed
from chiplog.measurement.launchers import launch_command
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.run_to_end import run_to_end
from chiplog.measurement.start_again import has_crashed, run_again
from chiplog.tune.check.proof import what_was_said
from chiplog.tune.settings import ANSWER_SECONDS

PROGRAM = "chiplog-calls"
MOST_RANKS_HERE = 8
"""Given: most ranks without a launcher of the user's: they share this machine's cores."""
MOST_BYTES = 1 << 24
"""Larger calls are not tried."""
OK, SKIPPED = "ok", "skipped"
_RANKS = re.compile(r"^ranks (\d+)$", re.MULTILINE)
_CALL = re.compile(r"^call (\d+) (ok|skipped|error) ?(.*)$", re.MULTILINE)
CALLED = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast"),
    *("exscan", "gather", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter"),
)
"""The operations that the program can call."""


@dataclass(frozen=True)
class OperationCall:
    """One collective call: `bytes` of a block, by the first `ranks` ranks."""

    operation: str
    ranks: int
    bytes: int
    flags: str = ""
    """i: in place; u: an operation of the user's; n: one that is not commutative."""

    @property
    def word(self) -> str:
        """As the program is told."""
        return f"{self.operation}:{self.ranks}:{self.bytes}:{self.flags}"


@dataclass(frozen=True)
class CallsEnded:
    """How the calls of one run ended."""

    ranks: int
    """Of the launcher; 0 where not even MPI_Init came back."""
    calls: Mapping[int, str]
    """By index "ok", "skipped", or what the MPI said; calls after an abort are missing."""
    is_done: bool
    said: str
    """The line of the output that says most."""
    has_crashed: bool = False

    def no_start(self) -> str | None:
        """What was said where MPI_Init crashed."""
        return self.said if self.has_crashed and not (self.ranks or self.is_done) else None


@dataclass(frozen=True)
class Caller:
    """Starts the program that makes the calls."""

    program: BuiltProbe
    launcher: tuple[str, ...] = ()

    def run(self, calls: Sequence[OperationCall], settings: Mapping[str, str]) -> CallsEnded:
        """All calls in one run, with `settings` in the environment; RunFailed where the launcher can't run.

        Ranks that crash in MPI_Init are started again: that says nothing about the settings.
        """
        ended, reason = run_again(lambda: self._once(calls, settings), CallsEnded.no_start)
        return replace(ended, said=reason or ended.said)

    def _once(self, calls: Sequence[OperationCall], settings: Mapping[str, str]) -> CallsEnded:
        words = [call.word for call in calls]
        ranks = max([2, *(call.ranks for call in calls if call.ranks <= MOST_RANKS_HERE)])
        started = launch_command(self.program, ranks, words, launcher=self.launcher)
        try:
            done = run_to_end(started.command, {**started.environment, **settings}, ANSWER_SECONDS)
        except RunFailed as error:
            if "did not end" not in str(error):
                raise
            return CallsEnded(0, {}, False, "it does not end")
        said_of_call = {
            int(index): how if how != "error" else said
            for index, how, said in _CALL.findall(done.stdout)
        }
        ranks_line = _RANKS.search(done.stdout)
        return CallsEnded(
            int(ranks_line[1]) if ranks_line else 0,
            said_of_call,
            "\ndone\n" in "\n" + done.stdout,
            what_was_said(done.stdout + done.stderr),
            has_crashed(done.code, done.stdout + done.stderr),
        )
