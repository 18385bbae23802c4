"""Histories whose truth is known, made without measuring.

Run as a program it writes in many processes at once, or kills processes that write.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chiplog.machine_survey.pair_values import Kind, PairValues
from chiplog.run_history.layout import RunFacts, path_of
from chiplog.run_history.table import effect_rows, pair_rows
from chiplog.run_history.write import write_run

FIRST = datetime(2026, 1, 1, 3, tzinfo=UTC)
KINDS: tuple[Kind, ...] = ("bandwidth", "latency")


def names_of(nodes: int) -> list[str]:
    return [f"n{number:04d}" for number in range(nodes)]


def add_run(
    history: Path,
    effects: NDArray[np.float64],
    day: float,
    *,
    run_id: str | None = None,
    names: list[str] | None = None,
    fingerprint: Mapping[str, str] | None = None,
    pairs: bool = False,
    of_pairs: Sequence[PairValues] = (),
    target: str = "tcp",
) -> Path:
    """Adds a run; `effects` (2, n) are relative changes of bandwidths and latencies.

    Its pairs are those of `of_pairs`; with `pairs`, made-up ones.
    """
    time = FIRST + timedelta(days=day)
    facts = RunFacts(run_id or f"run{day:09.3f}".replace(".", "-"), time, target, fingerprint or {})
    known = names or names_of(effects.shape[1])
    tables = [
        effect_rows(facts, kind, known, one, one - 0.001, one + 0.001)
        for kind, one in zip(KINDS, effects, strict=True)
    ]
    if pairs:
        generator = np.random.default_rng(int(day))
        tables += [_pairs(facts, kind, known, generator) for kind in KINDS]
    unknown = [np.full(one.values.size, np.nan) for one in of_pairs]
    tables += [pair_rows(facts, one, nan, nan) for one, nan in zip(of_pairs, unknown, strict=True)]
    path = path_of(history, facts)
    write_run(path, tables, facts)
    return path


def _pairs(facts: RunFacts, kind: Kind, names: list[str], generator: np.random.Generator):  # type: ignore[no-untyped-def]
    first, second = np.triu_indices(len(names), 1)
    turned = (generator.random(first.size) < 0.5) & (kind == "bandwidth")
    clients, servers = np.where(turned, second, first), np.where(turned, first, second)
    typical = 12e9 if kind == "bandwidth" else 2e-6
    values = typical * np.exp(0.02 * generator.standard_t(4, first.size))
    half = np.abs(generator.normal(0, 0.003, first.size))
    half = half if kind == "bandwidth" else np.full(first.size, np.nan)
    rounds = np.zeros(first.size, dtype=np.int64)
    known = PairValues(tuple(names), clients, servers, values, kind, rounds)
    return pair_rows(facts, known, 1 - half, 1 + half)


def _write_some(history: Path, writer: int, runs: int, nodes: int) -> None:
    effects = np.zeros((2, nodes))
    for number in range(runs):
        add_run(history, effects, number % 3, run_id=f"w{writer}-{number}", pairs=True)


def _in_children(history: Path, writers: int, runs: int) -> None:
    children = []
    for writer in range(writers):
        child = os.fork()
        if child == 0:
            _write_some(history, writer, runs, 40)
            os._exit(0)
        children.append(child)
    ends = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(any(ends))


def _kill(history: Path, times: int) -> None:
    """Kills writers by SIGKILL: every other one at any time, the others while a file of theirs is unfinished."""
    for number in range(times):
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            _write_some(history, number, 1000, 200)
            os._exit(0)
        while not any(history.rglob(f"*-w{number}-0.parquet")):
            time.sleep(0.001)
        time.sleep(random.Random(number).random() * (time.monotonic() - began))
        if number % 2:
            _stop_in_the_middle_of_a_file(history, child)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _stop_in_the_middle_of_a_file(history: Path, child: int) -> None:
    before = set(history.rglob(".*.tmp"))
    while True:
        os.kill(child, signal.SIGSTOP)
        os.waitpid(child, os.WUNTRACED)
        if set(history.rglob(".*.tmp")) - before:
            return
        os.kill(child, signal.SIGCONT)
        time.sleep(0.0005)


if __name__ == "__main__":
    if sys.argv[1] == "writers":
        _in_children(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        _kill(Path(sys.argv[2]), int(sys.argv[3]))
