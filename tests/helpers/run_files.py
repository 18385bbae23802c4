"""Small valid run files, to be read, damaged and exported by tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chiplog.dataset.records import SCHEMA
from chiplog.dataset.run_file import write_run


def example_header(**members: object) -> dict[str, object]:
    """A header as the probe writes it; `members` replace or add."""
    return {
        "schema": SCHEMA,
        "chiplog": "0.1.0",
        "run_id": "0123456789abcdef",
        "created": "2026-11-21T00:00:00+00:00",
        "target": "sim:L=5us",
        "transport": "sim",
        "ranks": 2,
        "seed": 7,
        "launch": 0,
        "clock": {"name": "virtual", "resolution_ns": 1.0, "overhead_ns": 0.0},
        "hosts": ["here", "here"],
        "binding": [[0], [1]],
        "machine": {"cpu_model": "none", "kernel": "none", "cores": 2, "governor": None},
        "options": {"L": "5us"},
        "capabilities": {"two_sided": True},
        "mpi": None,
        "plan": None,
        "warnings": [],
        **members,
    }


def example_series(
    samples_ns: Sequence[int] = (900, 100, 110, 120), **members: object
) -> dict[str, object]:
    """A series of a record: a bare round trip of 1 KiB, its first sample warm-up; `members` replace or add."""
    return {
        "pattern": "prtt",
        "operation": "send",
        "posting": "normal",
        "direction": "round-trip",
        "message_bytes": 1024,
        "train": 1,
        "delay_ns": 0.0,
        "delay_requested_ns": 0.0,
        "batch": 1,
        "warmup": 1,
        "messages": 2 * len(samples_ns),
        "bytes": 2048 * len(samples_ns),
        "samples_ns": list(samples_ns),
        **members,
    }


def example_record(
    number: int = 0, *series: dict[str, object], **members: object
) -> dict[str, object]:
    """A record with the given series, or with one; `members` replace or add."""
    return {
        "id": number,
        "visit": 0,
        "launch": 0,
        "started_ns": 1000 * number,
        "elapsed_ns": 1000,
        "placement_ns": 124.0,
        "payload": "ok",
        "stopped": "precision",
        "relative_half_width": 0.02,
        "series": list(series) or [example_series()],
        "tag": {"purpose": "grid"},
        **members,
    }


def write_example(path: Path, *, records: int = 3) -> Path:
    """A complete run file whose record i has a series of a train and one of bare round trips, of 2^i bytes."""
    write_run(path, example_header(), map(_example, range(records)))
    return path


def _example(number: int) -> dict[str, object]:
    size = 1 << number
    single = example_series((500, 100 + number, 111, 123), message_bytes=size)
    train = example_series((900, 301, 322 + number), message_bytes=size, train=10, batch=7)
    return example_record(number, single, train)
