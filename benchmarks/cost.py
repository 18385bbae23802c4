"""What a LogGP assessment costs here, and how well it repeats.

    python benchmarks/cost.py [--runs 10] [--only mpi|tcp] [--keep DIRECTORY]

Each run is `chiplog measure TARGET` in a process of its own with its defaults (1 B to 1 MiB, 5 % intervals, refinement
included), timed from outside. For each target the table shows seconds, bytes and messages, the protocol changes found,
and L, o_s, g of the first segment with the run's witnesses: median flag exchange, and the reference's half round trip,
gap and overhead in the records that count. Below it, how far the runs lie apart within one state of the machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.fit.placement import in_one_placement

CHIPLOG = [sys.executable, "-m", "chiplog"]
SYMBOLS = ("L_half", "L", "o_s", "g")
FIRST_SEGMENT_BYTES = 256
SAME_STATE = 1.10
"""Runs whose witnesses differ by no more than this factor were in one state: what the parameters may differ by."""


@dataclass(frozen=True)
class Run:
    """One assessment: its cost, what it found, and its witnesses of the machine's state."""

    seconds: float
    messages: int
    bytes: int
    changes: tuple[str, ...]
    parameters: dict[str, float | None]
    negative: tuple[str, ...]
    witnesses_seconds: tuple[float, ...]
    """Flag round trip; the reference's half round trip, gap and overhead."""

    def line(self) -> str:
        """One row, for people."""
        values = "  ".join(
            f"{symbol} {'      n/a' if value is None else f'{value * 1e9:9.1f}'} ns"
            for symbol, value in self.parameters.items()
        )
        witnesses = "/".join(f"{seconds * 1e9:.0f}" for seconds in self.witnesses_seconds)
        return (
            f"{self.seconds:5.2f} s  {self.bytes / 1e9:5.3f} GB  {self.messages:7d} messages  {values}  "
            f"state {witnesses} ns  changes: {', '.join(self.changes) or 'none'}"
            f"{'  NEGATIVE ' + str(self.negative) if self.negative else ''}"
        )


def chiplog(*arguments: str) -> str:
    done = subprocess.run([*CHIPLOG, *arguments], capture_output=True, text=True, timeout=120)
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
    fit = json.loads(chiplog("fit", str(out), "--model", "loggp", "--json", "-"))["fits"][0]
    parameters = [p for segment in fit["segments"] for p in segment["parameters"].items()]
    first = fit["segments"][0]["parameters"]
    return Run(
        seconds=seconds,
        messages=sum(s.messages for s in dataset.series),
        bytes=sum(s.bytes_sent for s in dataset.series),
        changes=tuple(
            f"{c['last_before_bytes']}|{c['first_after_bytes']} {c['kind']}" for c in fit["changes"]
        ),
        parameters={symbol: first.get(symbol, {}).get("value") for symbol in SYMBOLS},
        negative=tuple(name for name, p in parameters if p["value"] is not None and p["value"] < 0),
        witnesses_seconds=witnesses_of(dataset),
    )


def witnesses_of(dataset: Dataset) -> tuple[float, ...]:
    """Medians over the records of small messages that count in the fit."""
    counting, _ = in_one_placement(dataset)
    records = {s.record_id: s for s in counting.series if s.message_bytes <= FIRST_SEGMENT_BYTES}
    rows = [
        (
            one.placement_seconds,
            one.reference.half_round_trip_seconds,
            one.reference.gap_seconds,
            one.reference.overhead_seconds,
        )
        for one in records.values()
        if one.reference is not None and one.placement_seconds is not None
    ]
    return tuple(statistics.median(column) for column in zip(*rows, strict=True))


def same_state(one: Run, other: Run) -> bool:
    """Whether all witnesses of two runs are alike."""
    pairs = zip(one.witnesses_seconds, other.witnesses_seconds, strict=True)
    return all(max(pair) <= SAME_STATE * min(pair) for pair in pairs)


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
        columns = zip(*(run.witnesses_seconds for run in members), strict=True)
        state = "/".join(f"{statistics.median(column) * 1e9:.0f}" for column in columns)
        for symbol in SYMBOLS:
            values = [v for run in members if (v := run.parameters[symbol]) is not None]
            if len(values) > 1:
                centre = statistics.median(values)
                worst = max(abs(value / centre - 1) for value in values) if centre else float("inf")
                lines.append(
                    f"  state {state} ns: {symbol} of {len(values)} runs, "
                    f"median {centre * 1e9:.1f} ns, farthest {worst:.1%}"
                )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", choices=["mpi", "tcp"])
    parser.add_argument(
        "--keep", type=Path, metavar="DIRECTORY", help="where the runs' records stay"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        directory = options.keep or Path(passing)
        directory.mkdir(parents=True, exist_ok=True)
        for target in [options.only] if options.only else ["mpi", "tcp"]:
            print(f"{target}:")
            # Builds the probe where the cache has none.
            chiplog("measure", target, "-o", str(Path(passing) / f"{target}.jsonl"), "--sizes", "8")
            runs = []
            for number in range(options.runs):
                runs.append(assess(target, directory / f"{target}{number}.jsonl", seed=number + 1))
                print(" ", runs[-1].line(), flush=True)
            print("\n".join(spread_lines(runs)), flush=True)


if __name__ == "__main__":
    main()
