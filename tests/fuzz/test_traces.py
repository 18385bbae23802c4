"""Traces damaged at random: each is read as a trace whose costs can be told, or refused in one sentence.

A few examples of each kind by default; CHIPLOG_TEST_LONG=1 tries many.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dumpi_files import write_dumpi
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_files import ring, write_actions

from chiplog.application.costs import costs_of
from chiplog.application.replay import schedule_of
from chiplog.errors import CorruptFile, UsageError
from chiplog.tracing.importer import read_trace

EXAMPLES = 1000 if os.environ.get("CHIPLOG_TEST_LONG") else 25
PATIENT = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
NUMBERS = (b"0", b"-1", b"-2", b"7", b"2147483648", b"99999999999999999999", b"1e9", b"nan", b"")
MAKERS: dict[str, Callable[[Path], Path]] = {
    "liballprof": ring,
    "simgrid-ti": write_actions,
    "dumpi": write_dumpi,
}


@pytest.fixture(scope="module")
def samples() -> Iterator[dict[str, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        yield {name: make(Path(folder) / name) for name, make in MAKERS.items()}


def cut(content: bytes, dice: random.Random) -> bytes:
    return content[: dice.randrange(len(content) + 1)]


def shuffled(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    dice.shuffle(lines)
    return b"".join(lines)


def lying(content: bytes, dice: random.Random) -> bytes:
    """Some numbers of a text replaced, or some bytes of what is none."""
    if b"\0" in content:
        damaged = bytearray(content)
        for _ in range(dice.randint(1, 8)):
            damaged[dice.randrange(len(damaged))] = dice.choice((0, 1, 127, 128, 255))
        return bytes(damaged)
    for _ in range(dice.randint(1, 4)):
        places = [at for at, byte in enumerate(content) if chr(byte).isdigit()]
        if places:
            at = dice.choice(places)
            content = content[:at] + dice.choice(NUMBERS) + content[at + 1 :]
    return content


def garbage(content: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(content) + 1)
    return content[:at] + dice.randbytes(dice.randint(1, 64)) + content[at:]


def repeated(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    at = dice.randrange(len(lines))
    return b"".join(lines[:at] + [lines[at]] * dice.randint(2, 4) + lines[at:])


@pytest.mark.parametrize("damage", [cut, shuffled, lying, garbage, repeated])
@pytest.mark.parametrize("kind", MAKERS)
@PATIENT
@given(seed=st.integers(0, 2**32))
def test_a_damaged_trace_is_read_or_refused_in_a_sentence(
    samples: dict[str, Path], kind: str, damage: Callable[[bytes, random.Random], bytes], seed: int
) -> None:
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / kind
        shutil.copytree(samples[kind], place)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        chosen = dice.choice(files)
        chosen.write_bytes(damage(chosen.read_bytes(), dice))
        if dice.random() < 0.1:
            dice.choice(files).unlink()
        refusal = ""
        try:
            trace = read_trace(place)
            schedule_of(trace, 1e9)
            rows = costs_of(trace).rows
        except (CorruptFile, UsageError) as error:
            refusal, rows = str(error), ()
    assert "\n" not in refusal
    assert all(row.waiting_seconds <= row.mpi_seconds + 1e-9 for row in rows)
