"""Which message sizes to measure, and for which numbers of ranks to choose: the grammar of `--sizes` and `--ranks`."""

from __future__ import annotations

import math
import re

from chiplog.counts import refuse_more
from chiplog.errors import UsageError
from chiplog.outside import as_integer
from chiplog.plan.units import format_bytes, parse_bytes

POINTS_PER_OCTAVE, MAX_POINTS_PER_OCTAVE = 2, 64
"""Given: sizes of a range from a power of two to the next; more are refused."""
MAX_MESSAGE_BYTES = (1 << 31) - 1
"""Given: what an int of MPI counts."""
LEAST_RANKS, MOST_RANKS = 2, 65536
"""Given: ranks of a tuning file or a prediction; so many are not started."""
MOST_SIZES = MAX_POINTS_PER_OCTAVE * MAX_MESSAGE_BYTES.bit_length() + 1
"""Derived: as many as the densest range of all sizes has; a longer list is refused."""
_DASHED = re.compile(r"(\d{1,12}(?:[kKMG]i?B|B)?) ?(?:-|\.\.|\u2013) ?(\d{1,12}(?:[kKMG]i?B|B)?)")
ACCEPTS = "FIRST:LAST (e.g. 1:4MiB), FIRST:LAST:POINTS_PER_OCTAVE (e.g. 1:4MiB:4) or a list (e.g. 0,8,1KiB)"


def parse_sizes(text: str) -> tuple[int, ...]:
    """The message sizes in bytes that `text` names, ascending, each once.

    A range is a geometric grid with both ends and every power of two between them. Raises UsageError that
    says what is accepted, where the text is no range or the range is empty.

    >>> parse_sizes("1:8")
    (1, 2, 3, 4, 6, 8)
    """
    if not text.strip():
        raise UsageError(f"--sizes: is empty; it accepts {ACCEPTS}.")
    if ":" not in text:
        _refuse_dash("--sizes", text)
        listed = {_size(part) for part in text.split(",")}
        refuse_more("--sizes: sizes of the list", len(listed), MOST_SIZES, "name fewer")
        return tuple(sorted(listed))
    first_text, last_text, *density = text.split(":")
    if len(density) > 1:
        raise UsageError(f"--sizes: '{text}' is not understood; it accepts {ACCEPTS}.")
    first, last = _size(first_text), _size(last_text)
    if first > last:
        raise UsageError(
            f"--sizes: the range '{text}' is empty, because {format_bytes(first)} is above "
            f"{format_bytes(last)}; it accepts {ACCEPTS}."
        )
    points_per_octave = _density(density[0]) if density else POINTS_PER_OCTAVE
    return geometric_grid(first, last, points_per_octave)


def _refuse_dash(option: str, text: str) -> None:
    """Raises UsageError for what would be a range elsewhere."""
    ends = _DASHED.fullmatch(text.strip())
    if ends is not None:
        raise UsageError(
            f"{option}: '{text[:40]}' is not understood; a range has a colon: {ends[1]}:{ends[2]}."
        )


def geometric_grid(first_bytes: int, last_bytes: int, points_per_octave: int) -> tuple[int, ...]:
    """Sizes 2^(i/points_per_octave) within the range, with both ends; 0 stays as a point of its own."""
    sizes = {first_bytes, last_bytes}
    low = max(first_bytes, 1)
    index = math.floor(math.log2(low) * points_per_octave)
    while (size := round(2 ** (index / points_per_octave))) <= last_bytes:
        if size >= low:
            sizes.add(size)
        index += 1
    return tuple(sorted(sizes))


def _size(text: str) -> int:
    if not text.strip():
        raise UsageError(f"--sizes: a size is missing; it accepts {ACCEPTS}.")
    size = parse_bytes(text, "--sizes")
    if size > MAX_MESSAGE_BYTES:
        raise UsageError(
            f"--sizes: '{text}' is too large; it accepts at most {MAX_MESSAGE_BYTES} bytes."
        )
    return size


def _density(text: str) -> int:
    density = as_integer(text, 1, MAX_POINTS_PER_OCTAVE)
    if density is None:
        raise UsageError(
            f"--sizes: '{text[:40]}' is not a number of points per octave; it accepts 1 to {MAX_POINTS_PER_OCTAVE}."
        )
    return density


def parse_ranks(
    text: str, *, every: bool, least: int = LEAST_RANKS, most: int = MOST_RANKS
) -> tuple[int, ...]:
    """The numbers of ranks that `--ranks` names: a list, or a range, of which `every` number counts.

    Otherwise a range is its ends and the powers of two between them. Raises UsageError for anything else.

    >>> parse_ranks("2:9", every=False), parse_ranks("4,8", every=False)
    ((2, 4, 8, 9), (4, 8))
    """
    if ":" not in text:
        _refuse_dash("--ranks", text)
        return tuple(sorted({_ranks(part, text, least, most) for part in text.split(",")}))
    first, last = (_ranks(part, text, least, most) for part in text.split(":", 1))
    if first > last:
        raise UsageError(
            f"--ranks: the range '{text[:40]}' is empty; it accepts FIRST:LAST, e.g. 2:1024."
        )
    if every:
        return tuple(range(first, last + 1))
    powers = {1 << bit for bit in range(1, most.bit_length())}
    return tuple(sorted({first, last} | {power for power in powers if first < power < last}))


def _ranks(part: str, text: str, least: int, most: int) -> int:
    ranks = as_integer(part.strip())
    if ranks is None:
        raise UsageError(
            f"--ranks: '{text[:40]}' is not understood; it accepts 64, or 4,8, or 2:1024."
        )
    if not least <= ranks <= most:
        raise UsageError(f"--ranks: '{text[:40]}' is out of range; it accepts {least} to {most}.")
    return ranks
