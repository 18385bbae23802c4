"""A year of daily sweeps of 1,024 nodes: how large the history is, and how long a question takes.

    python benchmarks/history.py FOLDER [--nodes 1024] [--days 365]

The sweeps are simulated: each pair's figures have heavy-tailed noise of 2 %, each node's effect 0.4 %, and one node is
5 % slower in the last three weeks. Files that are in FOLDER already are kept.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from chiplog.machine_survey.pair_values import PairValues
from chiplog.run_history.layout import RunFacts, path_of
from chiplog.run_history.table import effect_rows, pair_rows
from chiplog.run_history.write import write_run

FIRST = datetime(2025, 1, 1, 3, tzinfo=UTC)
KINDS = ("bandwidth", "latency")
TYPICAL = {"bandwidth": 12e9, "latency": 2e-6}
SLOW_NODE, SLOW_DAYS, SLOWNESS = 5, 21, 0.05


def add_day(folder: Path, day: int, nodes: int, days: int) -> int:
    """Adds the sweep of a day and returns its rows of pairs."""
    when = FIRST + timedelta(days=day)
    facts = RunFacts(f"day{day:03d}", when, "tcp", {"machine.kernel": "6.1"})
    path = path_of(folder, facts)
    first, second = np.triu_indices(nodes, 1)
    if path.exists():
        return len(KINDS) * first.size
    generator = np.random.default_rng(day)
    names = [f"n{number:04d}" for number in range(nodes)]
    node_tables, pair_tables = [], []
    for kind in KINDS:
        sign = 1.0 if kind == "latency" else -1.0
        slowness = generator.normal(0, 0.004, nodes)
        if day >= days - SLOW_DAYS and kind == "bandwidth":
            slowness[SLOW_NODE] += SLOWNESS
        effects = np.expm1(sign * slowness)
        node_tables.append(
            effect_rows(facts, kind, names, effects, effects - 0.001, effects + 0.001)
        )
        noise = slowness[first] + slowness[second] + 0.02 * generator.standard_t(4, first.size)
        values = TYPICAL[kind] * np.exp(sign * noise)
        half = np.full(first.size, np.nan)
        if kind == "bandwidth":
            half = np.abs(generator.normal(0, 0.003, first.size))
        rounds = np.zeros(first.size, dtype=np.int64)
        known = PairValues(tuple(names), first, second, values, kind, rounds)
        pair_tables.append(pair_rows(facts, known, 1 - half, 1 + half))
    write_run(path, [*node_tables, *pair_tables], facts)
    return len(KINDS) * first.size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=1024)
    parser.add_argument("--days", type=int, default=365)
    options = parser.parse_args()
    began = time.monotonic()
    rows = sum(
        add_day(options.folder, day, options.nodes, options.days) for day in range(options.days)
    )
    seconds = time.monotonic() - began
    size = sum(path.stat().st_size for path in options.folder.rglob("*.parquet"))
    print(f"{rows:,} rows of pairs, {size / 1e9:.3f} GB; written in {seconds:.0f} s")
    command = [sys.executable, "-m", "chiplog", "history", str(options.folder), "--against", "30d"]
    for words in ([*command, "--node", f"n{SLOW_NODE:04d}"], command):
        for _ in range(3):
            began = time.monotonic()
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            print(f"{time.monotonic() - began:.2f} s for {' '.join(words[3:])}")
        print(done.stdout)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{memory / 1e3:.0f} MB of memory at most")


if __name__ == "__main__":
    main()
