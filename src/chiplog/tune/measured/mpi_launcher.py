"""Starts the race program under the MPI's launcher and reads what it prints; a launch that hangs is ended."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from chiplog.errors import RunFailed
from chiplog.measurement.first_words import first_words
from chiplog.measurement.launchers import launch_command
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.process import ProcessGroup, output_in_memory
from chiplog.measurement.programs import RACE
from chiplog.measurement.start_again import has_crashed, has_spoken, run_again
from chiplog.outside import as_json
from chiplog.tune.measured.launch import CandidateSamples, Effort, Failure, Key, RaceEntry, Result
from chiplog.tune.settings import ANSWER_SECONDS

POLL_SECONDS = 0.02
"""Given: between two looks at a launch."""


@dataclass(frozen=True)
class LaunchEnded:
    """What a launch printed, and how it failed, if it did."""

    output: str
    reason: str | None
    seconds: float
    is_cut: bool = False
    """Whether it was ended at its limit."""
    has_crashed: bool = False

    def no_start(self) -> str | None:
        """How it crashed, if it did before its ranks' first word."""
        is_early = self.has_crashed and not has_spoken(RACE, self.output, self.reason or "")
        return self.reason if is_early else None


@dataclass(frozen=True)
class LaunchedWorld:
    """How many ranks a launcher starts, and on how many hosts."""

    ranks: int
    hosts: int


@dataclass(frozen=True)
class MpiLauncher:
    """Ranks of one MPI: `words` start them, or `ranks` of them the MPI's own launcher on this host."""

    program: BuiltProbe
    ranks: int
    words: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None
    options: tuple[str, ...] = ()
    """Of the program, in every launch of the race."""

    def launch(
        self,
        entries: Sequence[RaceEntry],
        effort: Effort,
        seed: int,
        limit_seconds: float = math.inf,
    ) -> Result:
        """One launch of the race."""
        arguments = [*self.options, *arguments_of(entries, effort, seed)]
        ended = self._run(arguments, {}, limit_seconds)
        return read_result(ended.output, entries, ended.reason, ended.seconds, is_cut=ended.is_cut)

    def cvars(self, word: str, environment: Mapping[str, str]) -> list[Mapping[str, object]]:
        """The MPI's control variables whose names contain `word`; RunFailed where it can't be asked."""
        ended = self._run(["--cvars", word], environment)
        if ended.reason is not None:
            raise RunFailed(f"the MPI can't be asked for its algorithms: {ended.reason}.")
        return [line for line in read_lines(ended.output) if line["type"] == "cvar"]

    def world(self) -> LaunchedWorld:
        """Who takes part; RunFailed where the launcher fails."""
        ended = self._run([], {})
        for line in read_lines(ended.output):
            if line["type"] == "launch" and ended.reason is None:
                return LaunchedWorld(int(line["ranks"]), int(line["hosts"]))
        raise RunFailed(f"no ranks could be started: {ended.reason or 'they said nothing'}.")

    def says(self, environment: Mapping[str, str]) -> str:
        """What a launch that measures nothing prints with variables in its environment; RunFailed where it fails."""
        ended = self._run([], environment)
        if ended.reason is not None:
            raise RunFailed(f"no ranks could be started: {ended.reason}.")
        return ended.output

    def _run(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        limit_seconds: float = math.inf,
    ) -> LaunchEnded:
        """The launch that has started, or the last one that did not, within the limit."""
        began = time.monotonic()

        def run() -> LaunchEnded:
            started = launch_command(self.program, self.ranks, arguments, launcher=self.words)
            every = {**os.environ, **started.environment, **(self.environment or {}), **environment}
            left_seconds = began + limit_seconds - time.monotonic()
            return run_watched(started.command, every, ANSWER_SECONDS, left_seconds)

        ended, reason = run_again(run, LaunchEnded.no_start)
        return replace(ended, reason=reason or ended.reason, seconds=time.monotonic() - began)


def run_watched(
    command: Sequence[str],
    environment: Mapping[str, str],
    silent_seconds: float,
    limit_seconds: float = math.inf,
) -> LaunchEnded:
    """The command to its end, or to its limit.

    It and all it started are ended where it prints nothing for `silent_seconds`, too.
    """
    began = time.monotonic()
    with output_in_memory() as stdout, output_in_memory() as stderr:
        try:
            group = ProcessGroup(command, environment, stdout=stdout, stderr=stderr)
        except OSError as error:
            raise RunFailed(f"{command[0]} can't be run: {error.strerror}.") from error
        with group:
            if group.process.stdin is not None:
                group.process.stdin.close()
            code = _wait(group, stdout, silent_seconds, began + limit_seconds)
        seconds = time.monotonic() - began
        reason = None
        is_cut = code is None and seconds >= limit_seconds
        if code is None and not is_cut:
            reason = f"it hangs: nothing for {silent_seconds:g} s"
        elif code is not None and code != 0:
            said = first_words(_text(stderr)) or first_words(_text(stdout))
            reason = f"it ends with code {code}: {said or 'it says nothing'}"
        crashed = has_crashed(code, _text(stdout) + _text(stderr))
        return LaunchEnded(_text(stdout), reason, seconds, is_cut, crashed)


def _wait(group: ProcessGroup, stdout: IO[bytes], silent_seconds: float, end: float) -> int | None:
    size, heard = -1, time.monotonic()
    while True:
        code = group.wait(POLL_SECONDS)
        if code is not None:
            return code
        now = os.fstat(stdout.fileno()).st_size
        if now != size:
            size, heard = now, time.monotonic()
        elif time.monotonic() - heard > silent_seconds:
            return None
        if time.monotonic() > end:
            return None


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", errors="replace")


def arguments_of(entries: Sequence[RaceEntry], effort: Effort, seed: int) -> list[str]:
    """Those of the program: candidates, each once, then cells."""
    candidates = {candidate.name: candidate for entry in entries for candidate in entry.candidates}
    words = [
        *("--samples", str(effort.samples), "--least", str(effort.least), "--seed", str(seed)),
        *("--cell-ns", f"{effort.cell_seconds * 1e9:.0f}", "--cutoff", f"{effort.cutoff:g}"),
        *("--check", "1" if effort.checks else "0"),
        *("--commutative", "1" if effort.commutative else "0"),
    ]
    for candidate in candidates.values():
        words += candidate.arguments
    for entry in entries:
        names = ",".join(candidate.name for candidate in entry.candidates)
        cell = entry.cell
        place = f"{cell.operation}:{cell.ranks}:{cell.message_bytes}:{cell.datatype}"
        words += ["--cell", f"{place}:{names}"]
    return words


def read_lines(output: str) -> list[Mapping[str, Any]]:
    """The program's lines; those of others, and a last one that was cut, are left out."""
    objects: list[Mapping[str, Any]] = []
    for line in output.splitlines():
        if not line.startswith('{"type":"'):
            continue
        value = as_json(line)
        if isinstance(value, dict):
            objects.append(value)
    return objects


def read_result(
    output: str,
    entries: Sequence[RaceEntry],
    reason: str | None,
    wall_seconds: float,
    *,
    is_cut: bool = False,
) -> Result:
    """`reason` says how the launch failed, None if it did not; a launch without its last line failed, too.

    One that was ended at its limit did not fail.
    """
    lines = read_lines(output)
    try:
        result = _result(lines, entries, reason, wall_seconds)
        return replace(result, failure=None, is_cut=True) if is_cut else result
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise RunFailed(
            f"the race program printed something else than expected: {error}."
        ) from error


def _result(
    lines: Sequence[Mapping[str, Any]],
    entries: Sequence[RaceEntry],
    reason: str | None,
    wall_seconds: float,
) -> Result:
    by_type: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        by_type.setdefault(line["type"], []).append(line)
    if reason is None and "end" not in by_type:
        reason = "it ended before all was measured"
    samples: dict[Key, dict[str, NDArray[np.float64]]] = {}
    for sample_line in by_type.get("samples", ()):
        seconds = np.array(sample_line["seconds"], dtype=np.float64)
        samples.setdefault(_key(sample_line), {})[str(sample_line["mode"])] = seconds
    return Result(
        samples={key: CandidateSamples(by_mode) for key, by_mode in samples.items()},
        slow={
            _key(slow_line): float(slow_line["seconds"]) for slow_line in by_type.get("slow", ())
        },
        refused={
            _key(refused_line): str(refused_line["reason"])
            for refused_line in by_type.get("refused", ())
        },
        failure=_failure(by_type.get("begin", ()), entries, reason) if reason else None,
        wall_seconds=wall_seconds,
    )


def _key(line: Mapping[str, Any]) -> Key:
    return int(line["cell"]), str(line["variant"])


def _failure(
    begun: Sequence[Mapping[str, Any]], entries: Sequence[RaceEntry], reason: str
) -> Failure:
    if not begun:
        return Failure(0, None, reason, False)
    place, name = _key(begun[-1])
    return Failure(place, name, reason, name != entries[place].candidates[-1].name)
