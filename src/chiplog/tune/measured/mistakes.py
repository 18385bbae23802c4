"""Where an MPI's default is far behind the best it has: it changes its algorithm too early or too late.

A default chooses by tables over sizes and numbers of ranks. Where an entry is wrong, one step of either makes an
operation many times slower (a broadcast of 4 B at 128 ranks ten times as slow as at 127). Such a step is told by two
figures: how far the default is behind here, and how far at the nearest cells that were measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from chiplog.tune.measured.candidate import Candidate
from chiplog.tune.measured.choices import SizeVerdict

FAR = 1.5
"""Given: the default is far behind where it surely takes at least this many times as long as the candidate."""


@dataclass(frozen=True)
class Mistake:
    """Neighbouring sizes of one number of ranks at which the default is far behind.

    Factors are the default's time over the candidate's.
    """

    ranks: int
    first_bytes: int
    last_bytes: int
    candidate: Candidate
    """At the size where the default is farthest behind."""
    default_seconds: float
    """There."""
    factor: float
    factor_low: float
    """Lower end of its interval."""
    least_beside: float | None
    """The smallest factor at the neighbours: the sizes below and above, and the same size with fewer and more ranks.
    None where there is no neighbour. Near 1, the default crosses over at the wrong place."""


def mistakes(verdicts: Sequence[SizeVerdict]) -> list[Mistake]:
    """The farthest behind first; held-out sizes take part."""
    known = {(verdict.cell.ranks, verdict.cell.message_bytes): verdict for verdict in verdicts}
    result = []
    for ranks in sorted({ranks for ranks, _ in known}):
        row = sorted(
            (verdict for verdict in verdicts if verdict.cell.ranks == ranks),
            key=lambda verdict: verdict.cell.message_bytes,
        )
        for run in (list(group) for is_far, group in groupby(row, _is_far) if is_far):
            worst = max(run, key=lambda verdict: verdict.gain)
            assert worst.candidate is not None and worst.ratio is not None
            beside = [neighbour.gain for neighbour in _neighbours(run, row, known)]
            result.append(
                Mistake(
                    ranks,
                    run[0].cell.message_bytes,
                    run[-1].cell.message_bytes,
                    worst.candidate,
                    worst.default_seconds,
                    worst.gain,
                    1 / worst.ratio.high,
                    min(beside, default=None),
                )
            )
    return sorted(result, key=lambda mistake: -mistake.factor)


def _is_far(verdict: SizeVerdict) -> bool:
    return verdict.is_changed and verdict.ratio is not None and verdict.ratio.high <= 1 / FAR


def _neighbours(
    run: Sequence[SizeVerdict],
    row: Sequence[SizeVerdict],
    known: dict[tuple[int, int], SizeVerdict],
) -> list[SizeVerdict]:
    first, last = row.index(run[0]), row.index(run[-1])
    neighbours = [row[at] for at in (first - 1, last + 1) if 0 <= at < len(row)]
    ranks = run[0].cell.ranks
    counts = sorted({count for count, _ in known})
    place = counts.index(ranks)
    for at in (place - 1, place + 1):
        if 0 <= at < len(counts):
            same_size = (known.get((counts[at], verdict.cell.message_bytes)) for verdict in run)
            neighbours += [verdict for verdict in same_size if verdict is not None]
    return neighbours
