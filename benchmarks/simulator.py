"""How fast the simulator runs, and in how much memory.

    python benchmarks/simulator.py [--loggopsim DIRECTORY] [--quick]

Events are counted as LogGOPSim counts them: send, message and receive, three a message. Each line is the median of
three processes, by turns with the other lines, so that its peak of memory is its own; seconds are from the making of
the schedule to the result, events a second are the simulator's alone. With --loggopsim, the directory of a build of
LogGOPSim and txt2bin, the same schedules run there, too; what it does not finish in two minutes is said to be so.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.schedule.goal import read_goal, write_goal
from chiplog.simulation import LogGOPS, simulate

PARAMETERS = LogGOPS.from_ns(L=2500, o=1500, g=1000, G=6, S_bytes=65535)
PEER_LIMIT_SECONDS = 120
REPEATS = 3
GOAL_EVENTS_PER_SECOND = 10e6


@dataclass(frozen=True)
class Case:
    """One operation, with its goal: seconds from the making of the schedule to the result."""

    operation: str
    algorithm: str
    ranks: int
    message_bytes: int = 1
    goal_seconds: float | None = None

    def name(self) -> str:
        return f"{self.operation} {self.algorithm} {self.ranks}"


CASES = (
    *(Case("barrier", "dissemination", 1 << power) for power in (10, 14, 18)),
    Case("barrier", "dissemination", 1 << 20, goal_seconds=10.0),
    Case("alltoall", "linear", 1024, 8, goal_seconds=2.0),
    Case("allreduce", "recursive-doubling", 1 << 16, 8),
    Case("bcast", "binomial", 1 << 20),
    Case("halo", "direct", 1 << 18, 100),
)


def measure(case: Case) -> dict[str, float]:
    began = time.perf_counter()
    schedule = load(case.operation, case.algorithm).schedule(Task(case.ranks, case.message_bytes))
    simulation = simulate(schedule, PARAMETERS)
    return {
        "seconds": time.perf_counter() - began,
        "simulated_seconds": simulation.wall_seconds,
        "events": simulation.events,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def in_own_process(case: Case) -> dict[str, float]:
    words = [case.operation, case.algorithm, str(case.ranks), str(case.message_bytes)]
    done = subprocess.run(
        [sys.executable, __file__, "--one", *words], capture_output=True, text=True, check=True
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def line(case: Case, result: dict[str, float]) -> str:
    rate = result["events"] / result["simulated_seconds"]
    goals = [(f"{GOAL_EVENTS_PER_SECOND / 1e6:g} million/s", rate >= GOAL_EVENTS_PER_SECOND)]
    if case.goal_seconds is not None:
        goals.append((f"{case.goal_seconds:g} s", result["seconds"] <= case.goal_seconds))
    verdicts = ", ".join(f"{goal} {'met' if is_met else 'NOT met'}" for goal, is_met in goals)
    return (
        f"{case.name():<36} {result['events']:>9.0f} events  {rate / 1e6:5.1f} million/s  "
        f"{result['seconds']:6.2f} s in all  {result['peak_bytes'] / 1e9:5.2f} GB   goals: {verdicts}"
    )


def peer_line(case: Case, directory: Path) -> str:
    """LogGOPSim on the same schedule; its binary form is made outside the time."""
    with tempfile.TemporaryDirectory() as scratch:
        text, binary = Path(scratch) / "s.goal", Path(scratch) / "s.bin"
        write_goal(
            load(case.operation, case.algorithm).schedule(Task(case.ranks, case.message_bytes)),
            text,
        )
        try:
            subprocess.run(
                [directory / "txt2bin", "-i", text, "-o", binary],
                check=True,
                timeout=PEER_LIMIT_SECONDS,
            )
            began = time.perf_counter()
            subprocess.run(
                [directory / "LogGOPSim", "-b", "-f", binary],
                check=True,
                capture_output=True,
                timeout=PEER_LIMIT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"    LogGOPSim: not done in {PEER_LIMIT_SECONDS} s"
        return f"    LogGOPSim: {time.perf_counter() - began:.2f} s"


def text_speed(ranks: int) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "s.goal"
        write_goal(load("barrier", "dissemination").schedule(Task(ranks)), path)
        began = time.perf_counter()
        read_goal(path)
        seconds = time.perf_counter() - began
        rate = path.stat().st_size / seconds / 1e6
    return (
        f"reading GOAL text: {rate:.0f} MB/s   goal 100 MB/s: {'met' if rate >= 100 else 'NOT met'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--loggopsim", type=Path, help="where LogGOPSim and txt2bin are")
    parser.add_argument("--quick", action="store_true", help="up to 2^16 ranks")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        operation, algorithm, ranks, message_bytes = options.one
        print(json.dumps(measure(Case(operation, algorithm, int(ranks), int(message_bytes)))))
        return
    spent: list[tuple[int, float]] = []
    cases = [case for case in CASES if not options.quick or case.ranks <= 1 << 16]
    rounds = [[in_own_process(case) for case in cases] for _ in range(REPEATS)]
    for case, results in zip(cases, zip(*rounds, strict=True), strict=True):
        result = sorted(results, key=lambda one: one["simulated_seconds"])[REPEATS // 2]
        print(line(case, result), flush=True)
        if options.loggopsim:
            print(peer_line(case, options.loggopsim), flush=True)
        if case.algorithm == "dissemination":
            spent.append((case.ranks, result["simulated_seconds"] / result["events"]))
    (few, short), (many, long) = spent[0], spent[-1]
    print(
        f"time per event from {few} to {many} ranks: x {long / short:.2f}   "
        f"goal <= logarithm's growth x {math.log2(many) / math.log2(few):.2f}: "
        f"{'met' if long / short <= math.log2(many) / math.log2(few) else 'NOT met'}"
    )
    print(text_speed(1 << 14 if options.quick else 1 << 16))


if __name__ == "__main__":
    main()
