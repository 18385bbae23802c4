"""Which message sizes to measure: the grammar of `--sizes`."""

from __future__ import annotations

import math

from chiplog.errors import UsageError
from chiplog.outside import as_integer
from chiplog.plan.units import format_bytes, parse_bytes

POINTS_PER_OCTAVE = 2
MAX_POINTS_PER_OCTAVE = 64
MAX_MESSAGE_BYTES = 2**31 - 1
ACCEPTS = "FIRST:LAST (e.g. 1:4MiB), FIRST:LAST:POINTS_PER_OCTAVE (e.g. 1:4MiB:4) or a list (e.g. 0,8,1KiB)"


def parse_sizes(text: str, option: str = "--sizes") -> tuple[int, ...]:
    """The message sizes in bytes that `text` names, ascending, each once.

    A range is a geometric grid with both ends and every power of two between them. Raises UsageError, naming
    `option` and what it accepts, where the text is no range or the range is empty.

    >>> parse_sizes("1:8")
    (1, 2, 3, 4, 6, 8)
    """
    if not text.strip():
        raise UsageError(f"{option}: is empty; it accepts {ACCEPTS}.")
    if ":" not in text:
        return tuple(sorted({_size(part, option) for part in text.split(",")}))
    parts = text.split(":")
    if len(parts) > 3:
        raise UsageError(f"{option}: '{text}' is not understood; it accepts {ACCEPTS}.")
    first, last = _size(parts[0], option), _size(parts[1], option)
    if first > last:
        raise UsageError(
            f"{option}: the range '{text}' is empty, because {format_bytes(first)} is above "
            f"{format_bytes(last)}; it accepts {ACCEPTS}."
        )
    return geometric_grid(
        first, last, _density(parts[2], option) if len(parts) == 3 else POINTS_PER_OCTAVE
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


def _size(text: str, option: str) -> int:
    if not text.strip():
        raise UsageError(f"{option}: a size is missing; it accepts {ACCEPTS}.")
    size = parse_bytes(text, option)
    if size > MAX_MESSAGE_BYTES:
        raise UsageError(
            f"{option}: '{text}' is too large; it accepts at most {MAX_MESSAGE_BYTES} bytes."
        )
    return size


def _density(text: str, option: str) -> int:
    density = as_integer(text, 1, MAX_POINTS_PER_OCTAVE)
    if density is None:
        raise UsageError(
            f"{option}: '{text[:40]}' is not a number of points per octave; it accepts 1 to {MAX_POINTS_PER_OCTAVE}."
        )
    return density
