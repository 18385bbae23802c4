"""What the program chiplog-race prints, as a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.errors import RunFailed
from chiplog.outside import as_json
from chiplog.tune.measured.launch import CandidateSamples, Failure, Key, RaceEntry, Result


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
