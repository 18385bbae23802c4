"""For which numbers of ranks to choose: the grammar of `--ranks` where there may be several."""

from __future__ import annotations

from chiplog.errors import UsageError
from chiplog.outside import as_integer

LEAST_RANKS, MOST_RANKS = 2, 65536


def parse_ranks(
    text: str, *, every: bool, least: int = LEAST_RANKS, most: int = MOST_RANKS
) -> tuple[int, ...]:
    """The numbers of ranks that `--ranks` names: a list, or a range, of which `every` number counts.

    Otherwise a range is its ends and the powers of two between them. Raises UsageError for anything else.

    >>> parse_ranks("2:9", every=False), parse_ranks("4,8", every=False)
    ((2, 4, 8, 9), (4, 8))
    """
    if ":" not in text:
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
