"""Noise as users write it: `exponential:5us@10%`, and files of lost times."""

from __future__ import annotations

import os
import re

from chiplog.errors import CorruptFile, UsageError
from chiplog.input_file import MOST_DATA_BYTES, read_text
from chiplog.outside import LARGEST_INTEGER, as_float
from chiplog.simulation.conditions import DISTRIBUTIONS, Noise

PS_PER_UNIT = {"ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}
_NOISE = re.compile(
    r"(?P<kind>[a-z-]+):(?P<mean>[0-9.eE+-]+)(?P<unit>ns|us|µs|ms|s|%)(?:@(?P<percent>[0-9.eE+-]+)%)?"
)


def parse_noise(text: str, *, seed: int = 0) -> Noise:
    """`KIND:MEAN[@PROBABILITY]`, where MEAN is a time or a share of the interval; UsageError says what is accepted.

    >>> parse_noise("exponential:5us@10%")
    Noise(distribution='exponential', mean_ps=5000000.0, mean_share=0.0, probability=0.1, detours_ps=(), seed=0)
    >>> parse_noise("pareto:2%").mean_share
    0.02
    """
    wrong = UsageError(
        f"--noise: '{text}' is no noise; it accepts KIND:MEAN[@PROBABILITY], where KIND is one of "
        f"{', '.join(DISTRIBUTIONS[1:])}, e.g. exponential:5us@10% or pareto:2%."
    )
    match = _NOISE.fullmatch(text)
    if match is None or match["kind"] not in DISTRIBUTIONS[1:]:
        raise wrong
    mean, percent = as_float(match["mean"]), as_float(match["percent"] or "100")
    if mean is None or percent is None or mean < 0 or not 0 <= percent <= 100:
        raise wrong
    share = match["unit"] == "%"
    return Noise(
        match["kind"],
        mean_ps=0.0 if share else mean * PS_PER_UNIT[match["unit"]],
        mean_share=mean / 100 if share else 0.0,
        probability=percent / 100,
        seed=seed,
    )


_PERIOD = re.compile(r"#\s*Measurement period:\s*([\d.]+) s\s*")
"""How long Netgauge's selfish benchmark ran, which its file says behind the lost times."""


def read_detours(path: str | os.PathLike[str]) -> tuple[tuple[int, int], ...]:
    """Start and length in picoseconds of lost times, from a line with both in ns for each; # begins a comment.

    Netgauge's osnoise files hold several runs, whose times begin anew behind a header: they follow each other.

    Raises CorruptFile, naming the line, unless they are numbers, ascend and lie apart; UsageError where the file can't
    be opened.
    """
    lines = read_text(path, MOST_DATA_BYTES).splitlines()
    detours: list[tuple[int, int]] = []
    end = begin = run_end = 0
    is_header = False
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            is_header = is_header or line.lstrip().startswith("#")
            if match := _PERIOD.fullmatch(line.strip()):
                run_end = begin + _picoseconds(match[1], 1e12, path, number)
            continue
        if len(words) != 2:
            raise _no_lost_time(path, number)
        start, length = (_picoseconds(word, 1e3, path, number) for word in words)
        if begin + start < end and is_header:
            begin = max(end, run_end)
        is_header = False
        start += begin
        if start < end or length <= 0:
            raise CorruptFile(
                f"{path}, line {number}: lost times must ascend, lie apart and be longer than 0."
            )
        end = start + length
        detours.append((start, length))
    if not detours or sum(length for _, length in detours) == end:
        raise CorruptFile(f"{path}: names no lost time, or leaves no time for work.")
    return tuple(detours)


def _picoseconds(word: str, factor: float, path: str | os.PathLike[str], number: int) -> int:
    value = as_float(word)
    if value is None or abs(value) * factor > LARGEST_INTEGER:
        raise _no_lost_time(path, number)
    return round(value * factor)


def _no_lost_time(path: str | os.PathLike[str], number: int) -> CorruptFile:
    return CorruptFile(
        f"{path}, line {number}: accepts the start and the length of a lost time, in ns."
    )
