"""Runs others' programs with and without the barrier library, and prints which pass only without it.

The programs are executable files below a folder, such as a compiled test suite of an MPI's: --programs, or the variable
MPICH_TESTS. Each runs with 2, 4 and 8 ranks as it is, then with the library: once alone, and three times with barriers
put around its other collective operations, each time with other settings. What fails then runs in the same way without
the library; what fails there now and then, too, runs in turn with and without it, to see whether it fails more often
with it. A program fails if it does not end, or does not end with 0. A file `testlist` or `testlist.in` beside it
can tell arguments, and another end, as those of MPICH's tests do: see listed_programs.py.

With --tracer, the tracer of `chiplog trace` stands in place of the library. Each program runs as it is and then
traced; what fails only then is looked into in the same way. A program that passes must leave a trace that can be read.

Each run is written to --results at once. A second call with the same file goes on where the first one ended.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "helpers"))

from barrier_programs import compile_tool, preloaded_command
from contained import run_contained
from listed_programs import Case, Suite
from scipy.stats import fisher_exact

from chiplog.errors import ChiplogError
from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.library import BARRIERS, BuiltLibrary, build_library, find_library
from chiplog.measurement.mpis import identify_mpi
from chiplog.measurement.shared_libraries import build_cached
from chiplog.measurement.tracer import FOLDER_VARIABLE, TRACER
from chiplog.tracing.importer import read_trace

BARRIERS_AROUND = "barriers_around.cpp"
COPY_AT_START = "copy_at_start.cpp"
SETTINGS = (
    {"CHIPLOG_BARRIER_AFTER": "1"},
    {"CHIPLOG_BARRIER_AFTER": "2", "CHIPLOG_EVERY_RANK": "1"},
    {"CHIPLOG_BARRIER_AFTER": "3"},
)
"""Used in turn."""
CONTROLS = 10
"""Runs without the library that a program must pass for a failure with it to count: some hang now and then.

In every other one, MPI_COMM_WORLD is copied at the start, as it is with CHIPLOG_EVERY_RANK.
"""
LEAST_CONTROLS = 3
"""If all of so many fail, the program fails without the library; else it is one that fails now and then."""
COMPARED = 40
"""Runs with the library, and as many without, of a program that fails now and then either way."""
COMPARED_FROM = 300
"""The turns of these runs begin here."""
MORE_OFTEN = 1e-3
"""How rarely Fisher's exact test may say of equals that one fails more often. Few programs are compared."""
LIMIT_SECONDS = 30.0
LIMIT_FACTOR = 4.0
"""With the library, or with more barriers, a program may take this many times as long as without, and LIMIT_SECONDS."""
TAIL_CHARACTERS = 2000
INTERRUPTED = 130


@dataclass(frozen=True)
class Way:
    """How a case is run."""

    library: bool
    more_barriers: bool

    def __str__(self) -> str:
        words = ["with the library" if self.library else "without"]
        return ", ".join(words + ["more barriers"] * self.more_barriers)

    @property
    def control(self) -> Way:
        """The same without the library."""
        return Way(False, self.more_barriers)


BARE = Way(False, False)
WAYS = (BARE, Way(True, False), Way(True, True))
TRACED_WAYS = (BARE, Way(True, False))
TRACED_SETTINGS = ({FOLDER_VARIABLE: "."},)
"""Each run has a folder of its own."""


class Results:
    """The runs so far, in a file of lines of JSON."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: dict[tuple[Case, Way, int], dict[str, object]] = {}
        written = path.read_text() if path.is_file() else ""
        if written and not written.endswith("\n"):
            path.write_text(written + "\n")
        for line in written.splitlines():
            try:
                run = json.loads(line)
                case = Case(
                    run["program"], run["arguments"], run["ranks"], run.get("variables", "")
                )
                self.runs[case, Way(run["library"], run["more_barriers"]), run["turn"]] = run
            except (ValueError, KeyError, TypeError):
                continue  # the line at which a run was interrupted: that run is done again

    def add(self, case: Case, way: Way, turn: int, run: dict[str, object]) -> None:
        key: dict[str, object] = {"program": case.program, "arguments": case.arguments}
        key |= {"ranks": case.ranks, "variables": case.variables}
        key |= {"library": way.library, "more_barriers": way.more_barriers, "turn": turn}
        self.runs[case, way, turn] = key | run
        with self.path.open("a") as file:
            print(json.dumps(key | run), file=file)

    def outcomes(self, case: Case, way: Way) -> list[str]:
        return [
            str(run["outcome"]) for (c, w, _), run in self.runs.items() if (c, w) == (case, way)
        ]

    def fails_only_with_library(self, case: Case, way: Way) -> bool:
        control = self.outcomes(case, way.control)
        failed = any(outcome != "passed" for outcome in self.outcomes(case, way))
        return way.library and failed and all(outcome == "passed" for outcome in control)

    def fails_more_often_with_library(self, case: Case, way: Way) -> bool:
        """By the runs that were made to compare."""
        with_it, without = (
            [
                str(run["outcome"]) == "passed"
                for (c, w, turn), run in self.runs.items()
                if (c, w) == (case, one) and turn >= COMPARED_FROM
            ]
            for one in (way, way.control)
        )
        if not with_it or not without:
            return False
        table = [[one.count(True), one.count(False)] for one in (with_it, without)]
        return bool(fisher_exact(table, alternative="less").pvalue < MORE_OFTEN)

    def is_wrong(self, case: Case, way: Way) -> str:
        """What is wrong with the library; nothing if nothing is."""
        if self.fails_only_with_library(case, way):
            return "passes only without the library"
        if self.fails_more_often_with_library(case, way):
            return "fails more often with the library"
        return ""


@dataclass(frozen=True)
class Runner:
    """Runs cases with one MPI and writes down what came of it."""

    library: BuiltLibrary
    barriers_around: Path
    copy_at_start: Path
    suite: Suite
    results: Results
    times: int
    limit_seconds: float
    traces: bool = field(default=False, kw_only=True)
    """Is the library the tracer?"""

    @property
    def ways(self) -> tuple[Way, ...]:
        return TRACED_WAYS if self.traces else WAYS

    @property
    def settings(self) -> tuple[dict[str, str], ...]:
        return TRACED_SETTINGS if self.traces else SETTINGS

    def run(self, case: Case) -> None:
        for way in self.ways:
            if way != BARE and "passed" not in self.results.outcomes(case, BARE):
                return
            for turn in range(self.times if way == self.ways[-1] else 1):
                self._once(case, way, turn)
                failed = self.results.runs[case, way, turn]["outcome"] != "passed"
                if failed and self._fails_without(case, way):
                    if "passed" in self.results.outcomes(case, way.control):
                        self._compare(case, way, turn)
                    break  # the other turns would tell nothing

    def _fails_without(self, case: Case, way: Way) -> bool:
        for turn in range(CONTROLS):
            if turn < LEAST_CONTROLS or self.results.fails_only_with_library(case, way):
                self._once(case, way.control, turn)
        return not self.results.fails_only_with_library(case, way)

    def _compare(self, case: Case, way: Way, failed: int) -> None:
        """Runs in turn with the settings of the turn that failed and without the library."""
        settings = failed % len(self.settings)
        copies = 1 if "CHIPLOG_EVERY_RANK" in self.settings[settings] else 0
        for pair in range(COMPARED):
            self._once(case, way, COMPARED_FROM + len(self.settings) * pair + settings)
            self._once(case, way.control, COMPARED_FROM + 2 * pair + copies)

    def _once(self, case: Case, way: Way, turn: int) -> None:
        if (case, way, turn) in self.results.runs:
            return
        preload = [self.barriers_around] * way.more_barriers
        if way.library:
            preload.append(self.library.path)
        elif turn % 2 == 1:
            preload.append(self.copy_at_start)
        settings = self.settings[turn % len(self.settings)] if way.library else {}
        program = str(self.suite.folder / case.program)
        mpi = self.library.mpi
        command = preloaded_command(
            mpi,
            case.ranks,
            [program, *shlex.split(case.arguments)],
            preload,
            case.environment | settings,
            case.launcher_options if mpi.kind != "openmpi" else (),
        )
        environment = {**os.environ, **mpi.environment, **OPEN_MPI_AS_ROOT}
        with tempfile.TemporaryDirectory() as directory:
            done = run_contained(
                command,
                environment=environment,
                directory=Path(directory),
                limit_seconds=self._limit_seconds(case, way),
            )
            outcome = case.judge.outcome(done)
            if outcome == "passed" and way.library and self.traces:
                outcome = outcome_of_trace(Path(directory))
        run: dict[str, object] = {"outcome": outcome, "seconds": round(done.seconds, 2)}
        if outcome != "passed":
            run |= {"settings": settings, "output": done.output[-TAIL_CHARACTERS:]}
            print(f"{case}, {way}: {outcome}", flush=True)
        self.results.add(case, way, turn, run)

    def _limit_seconds(self, case: Case, way: Way) -> float:
        bare = self.results.runs.get((case, BARE, 0))
        if bare is None or way == BARE:
            return self.limit_seconds
        return self.limit_seconds + LIMIT_FACTOR * float(str(bare["seconds"]))


def outcome_of_trace(folder: Path) -> str:
    """`passed`, or why the trace that a program left there is none; a program that never calls MPI leaves none."""
    try:
        if any(folder.glob("rank-*.trace")):
            read_trace(folder)
    except ChiplogError as error:
        return f"left a trace that can't be read: {error}"
    return "passed"


def summary(results: Results, cases: Sequence[Case]) -> tuple[list[str], int]:
    """Lines of text, and how many cases pass only or more often without the library."""
    lines: list[str] = []
    wrong: list[str] = []
    for named in dict.fromkeys(case.call for case in cases):
        ran = []
        for case in (one for one in cases if one.call == named):
            outcomes = {way: results.outcomes(case, way) for way in WAYS}
            failing = {way: why for way in WAYS if (why := results.is_wrong(case, way))}
            wrong += [f"{case}, {way}: {why}" for way, why in failing.items()]
            if failing:
                ran.append(f"{case.ranks} FAILED")
            elif "passed" not in outcomes[BARE]:
                ran.append(f"{case.ranks} fails without")
            elif any(one != "passed" for way in WAYS if way.library for one in outcomes[way]):
                ran.append(f"{case.ranks} fails now and then, also without")
            else:
                ran.append(f"{case.ranks} passed")
        lines.append(f"{named}: {', '.join(ran)}")
    judged = sum("passed" in results.outcomes(case, BARE) for case in cases)
    with_library = sum(way.library for _, way, _ in results.runs)
    lines.append(
        f"{len(cases)} cases, {judged} of which pass without the library; {with_library} runs with it; "
        f"{len(wrong)} pass only without it, or more often"
    )
    return lines + wrong, len(wrong)


def options_given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", default="mpicxx", help="compiler wrapper of the MPI")
    parser.add_argument("--programs", type=Path, default=os.environ.get("MPICH_TESTS"))
    parser.add_argument(
        "--library", help=f"{BARRIERS.file_name}, or the tracer; built where it is not given"
    )
    parser.add_argument("--tracer", action="store_true", help="in place of the barrier library")
    parser.add_argument("--results", type=Path, required=True, help="file of the runs so far")
    parser.add_argument("--only", nargs="*", default=[], help="folders below --programs")
    parser.add_argument("--skip", nargs="*", default=[], help="programs below --programs")
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4, 8])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds of a run")
    options = parser.parse_args()
    if options.programs is None or not Path(options.programs).is_dir():
        parser.error("--programs or MPICH_TESTS must name a folder of compiled programs")
    return options


def library_of(options: argparse.Namespace) -> BuiltLibrary:
    mpi = identify_mpi(options.mpi)
    if options.library is None and options.tracer:
        return BuiltLibrary(build_cached(TRACER, mpi), mpi)
    if options.library is None:
        return build_library(options.mpi)
    return BuiltLibrary(find_library(options.library, mpi.mpicxx), mpi)


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(INTERRUPTED))  # what runs now is ended, too
    options = options_given()
    library = library_of(options)
    suite = Suite(Path(options.programs).resolve())
    cases = [
        case
        for case in suite.cases(options.ranks, options.only)
        if case.program not in options.skip
    ]
    results = Results(options.results)
    with tempfile.TemporaryDirectory() as build:
        around, copying = (
            compile_tool(library.mpi, source, Path(build) / f"{source}.so")
            for source in (BARRIERS_AROUND, COPY_AT_START)
        )
        runner = Runner(
            library,
            around,
            copying,
            suite,
            results,
            options.times,
            options.limit,
            traces=options.tracer,
        )
        for case in cases:
            runner.run(case)
    lines, wrong = summary(results, cases)
    print(f"{library.mpi}:", *lines, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
