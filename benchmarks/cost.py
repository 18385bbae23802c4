"""What a LogGP assessment costs here, and how well it repeats.

    python benchmarks/cost.py [--runs 10] [--only mpi|shm|tcp] [--beside-a-busy-core] [--keep DIRECTORY]

Each run is `chiplog measure TARGET` in a process of its own with its defaults (1 B to 1 MiB, 5 % intervals,
refinement included), timed from outside. For each target the table shows seconds, bytes and messages, the protocol
changes found, and L, o_s, g of the first segment with the run's witnesses: median flag exchange, and half round trip,
gap and overhead of the reference of the state that most points met. Below it, how far the runs lie apart within one
state of the machine, as `chiplog compare` tells states. The last line of a target says in how many runs each of its
limits was found to the byte, what else was found, and the seconds and bytes. The limits are, of Open MPI, its inline
limit and its eager limit less its header; of shared memory, its inline limit and its chunk; of loopback sockets, the
longest message of one segment.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple, dataclass
from pathlib import Path

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Reference
from chiplog.machine_state.noise import LAUNCHES_DIFFER
from chiplog.machine_state.states import common_reference, in_one_state
from chiplog.machine_state.states import same_state as in_same_state
from chiplog.protocol_changes.find import find_changes

CHIPLOG = [sys.executable, "-m", "chiplog"]
LIMITS = {"mpi": (256, 4016), "shm": (56,), "tcp": (65475,)}
"""The last sizes before the changes that every run must find."""
OTHERS = {"mpi": (), "shm": (8192,), "tcp": ()}
"""The same of limits that a target has too, but that need not show in its times."""
BUSY = [sys.executable, "-c", "while True: pass"]
SYMBOLS = ("L_half", "L", "o_s", "g")
FIRST_SEGMENT_BYTES = 256


@dataclass(frozen=True)
class Run:
    """One assessment: its cost, what it found, and its witnesses of the machine's state."""

    seconds: float
    messages: int
    bytes: int
    changes: tuple[tuple[int, int], ...]
    """The last size before each, and the first one after it."""
    parameters: dict[str, float | None]
    negative: tuple[str, ...]
    flag_seconds: float
    """Median bare flag exchange of the records of small messages that count."""
    reference: Reference
    """Of the state that most points met."""

    def line(self) -> str:
        """One row, for people."""
        values = "  ".join(
            f"{symbol} {'      n/a' if value is None else f'{value * 1e9:9.1f}'} ns"
            for symbol, value in self.parameters.items()
        )
        return (
            f"{self.seconds:5.2f} s  {self.bytes / 1e9:5.3f} GB  {self.messages:7d} messages  {values}  "
            f"state {self.state()} ns  changes: {', '.join(f'{low}|{high}' for low, high in self.changes) or 'none'}"
            f"{'  NEGATIVE ' + str(self.negative) if self.negative else ''}"
        )

    def state(self) -> str:
        """The witnesses of the machine's state in nanoseconds, for people."""
        return "/".join(
            f"{seconds * 1e9:.0f}" for seconds in (self.flag_seconds, *astuple(self.reference))
        )


def chiplog(*arguments: str) -> str:
    done = subprocess.run([*CHIPLOG, *arguments], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(
            f"chiplog {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout


def assess(target: str, out: Path, seed: int) -> Run:
    began = time.monotonic()
    chiplog("measure", target, "-o", str(out), "--seed", str(seed))
    seconds = time.monotonic() - began
    dataset = read_run(out)
    counting = in_one_state(dataset).dataset
    small = [one for one in counting.series if one.message_bytes <= FIRST_SEGMENT_BYTES]
    common = common_reference(dataset.series)
    assert common is not None
    fit = json.loads(chiplog("fit", str(out), "--model", "loggp", "--json", "-"))["fits"][0]
    parameters = [p for segment in fit["segments"] for p in segment["parameters"].items()]
    first = fit["segments"][0]["parameters"]
    return Run(
        seconds=seconds,
        messages=sum(s.messages for s in dataset.series),
        bytes=sum(s.bytes_sent for s in dataset.series),
        changes=tuple(
            (change.last_before_bytes, change.first_after_bytes)
            for change in find_changes(dataset).consensus
        ),
        parameters={symbol: first.get(symbol, {}).get("value") for symbol in SYMBOLS},
        negative=tuple(name for name, p in parameters if p["value"] is not None and p["value"] < 0),
        flag_seconds=statistics.median(one.placement_seconds or 0.0 for one in small),
        reference=common,
    )


def same_state(one: Run, other: Run) -> bool:
    """Whether two runs had their cores in one placement, and the machine in one state."""
    flags = one.flag_seconds, other.flag_seconds
    return max(flags) <= math.exp(LAUNCHES_DIFFER) * min(flags) and in_same_state(
        one.reference, other.reference
    )


def states_of(runs: list[Run]) -> list[list[Run]]:
    """The runs by the machine's state; each state around the run that has the most others like it."""
    states = []
    left = list(runs)
    while left:
        centre = max(left, key=lambda run: sum(same_state(run, other) for other in left))
        states.append([run for run in left if same_state(centre, run)])
        left = [run for run in left if not same_state(centre, run)]
    return states


def spread_lines(runs: list[Run]) -> list[str]:
    lines = []
    for members in states_of(runs):
        for symbol in SYMBOLS:
            values = [v for run in members if (v := run.parameters[symbol]) is not None]
            if len(values) > 1:
                centre = statistics.median(values)
                worst = max(abs(value / centre - 1) for value in values) if centre else float("inf")
                lines.append(
                    f"  state {members[0].state()} ns: {symbol} of {len(values)} runs, "
                    f"median {centre * 1e9:.1f} ns, farthest {worst:.1%}"
                )
    return lines


def summary(target: str, runs: list[Run]) -> str:
    """What the series of a target shows, in one line."""
    found = [
        f"{limit}|{limit + 1} in {sum((limit, limit + 1) in run.changes for run in runs)} of {len(runs)}"
        for limit in LIMITS[target]
    ]
    known = {(limit, limit + 1) for limit in (*LIMITS[target], *OTHERS[target])}
    others = [change for run in runs for change in run.changes if change not in known]
    beside = ", ".join(f"{low}|{high}" for low, high in others) or "nothing"
    also = [
        f"{limit}|{limit + 1} (its own) in {sum((limit, limit + 1) in run.changes for run in runs)}"
        for limit in OTHERS[target]
    ]
    return (
        f"{target}: {', '.join([*found, *also])}; beside them {beside}; "
        f"{min(run.seconds for run in runs):.1f} to {max(run.seconds for run in runs):.1f} s, "
        f"at most {max(run.bytes for run in runs) / 1e9:.2f} GB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", choices=sorted(LIMITS))
    parser.add_argument(
        "--keep", type=Path, metavar="DIRECTORY", help="where the runs' records stay"
    )
    parser.add_argument(
        "--beside-a-busy-core",
        action="store_true",
        help="beside a program that keeps one core busy",
    )
    options = parser.parse_args()
    busy = subprocess.Popen(BUSY) if options.beside_a_busy_core else None
    try:
        measure_all(options)
    finally:
        if busy is not None:
            busy.kill()
            busy.wait()


def measure_all(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as passing:
        directory = options.keep or Path(passing)
        directory.mkdir(parents=True, exist_ok=True)
        for target in [options.only] if options.only else LIMITS:
            print(f"{target}:")
            # Builds the probe where the cache has none.
            chiplog("measure", target, "-o", str(Path(passing) / f"{target}.jsonl"), "--sizes", "8")
            runs = []
            for number in range(options.runs):
                runs.append(assess(target, directory / f"{target}{number}.jsonl", seed=number + 1))
                print(" ", runs[-1].line(), flush=True)
            print("\n".join([*spread_lines(runs), summary(target, runs)]), flush=True)


if __name__ == "__main__":
    main()
