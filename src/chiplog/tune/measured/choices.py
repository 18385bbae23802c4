"""From a race to the choices of a tuning file: what confirmation is sure of, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from chiplog.tune.choice import CHANGED, DEFAULT, UNCLEAR, Choice, Tuning
from chiplog.tune.measured.candidate import DEFAULT_NAME, Candidate
from chiplog.tune.measured.cells import CLOSE
from chiplog.tune.measured.launch import Cell
from chiplog.tune.measured.raced import Raced, SizeToConfirm
from chiplog.tune.measured.statistics import LOOKS, CandidateRatio, ratio_over_launches

MEASURED = "measurement"


@dataclass(frozen=True)
class SizeVerdict:
    """What is known of one size in the end."""

    cell: Cell
    candidate: Candidate | None
    """Who was confirmed, or failed to be; None where nobody was worth it."""
    ratio: CandidateRatio | None
    """Candidate's time over the default's."""
    default_seconds: float
    is_held_out: bool
    is_changed: bool
    """Whether the file leaves the default here."""
    by_datatype: Mapping[str, CandidateRatio] = field(default_factory=dict)
    """The ratio of each datatype; `ratio` is the least sure of them."""

    @property
    def gain(self) -> float:
        """The default's time over that with the file."""
        return 1 / self.ratio.value if self.is_changed and self.ratio is not None else 1.0


def verdicts(raced: Raced) -> list[SizeVerdict]:
    """One a size, ascending by ranks, then by size; held-out ones among them."""
    statements = len(raced.confirmed) * len(LOOKS)
    ratios = {
        point: ratio_over_launches(logs, statements) for point, logs in raced.confirmed.items()
    }
    by_size: dict[tuple[int, int], list[SizeToConfirm]] = {}
    for point in ratios:
        by_size.setdefault(point.size, []).append(point)
    points = [of_size[0] for of_size in by_size.values()]
    passed = [
        p for p in points if all(_passes(other, ratios[other], raced) for other in by_size[p.size])
    ]
    changed = set(_in_ranges(points, passed))
    judged = [
        SizeVerdict(
            p.cell,
            p.candidate,
            max((ratios[other] for other in by_size[p.size]), key=lambda ratio: ratio.high),
            _default_seconds(raced, p.cell),
            p.is_held_out,
            p in changed,
            {other.cell.datatype: ratios[other] for other in by_size[p.size]},
        )
        for p in points
    ]
    known = {verdict.cell for verdict in judged}
    judged += [
        SizeVerdict(cell, None, None, _default_seconds(raced, cell), False, False)
        for cell in raced.cells
        if cell not in known
    ]
    ordered = sorted(judged, key=lambda verdict: (verdict.cell.ranks, verdict.cell.message_bytes))
    return without_lone_sizes(ordered, _screened(raced))


def as_if_confirmed(points: Sequence[SizeToConfirm]) -> list[SizeVerdict]:
    """What confirmation would say if all points passed, one a size; without numbers."""
    by_size = {point.size: point for point in points}
    return [
        SizeVerdict(point.cell, point.candidate, None, math.nan, point.is_held_out, True)
        for _, point in sorted(by_size.items())
    ]


def _screened(raced: Raced) -> dict[tuple[int, int, str], float]:
    """By ranks, size and candidate: its time over the default's while screening."""
    return {
        (cell.ranks, cell.message_bytes, name): float(
            np.median(seconds) / np.median(state.seconds[DEFAULT_NAME])
        )
        for cell, state in raced.cells.items()
        if DEFAULT_NAME in state.seconds
        for name, seconds in state.seconds.items()
    }


def without_lone_sizes(
    verdicts: Sequence[SizeVerdict], ratios: Mapping[tuple[int, int, str], float]
) -> list[SizeVerdict]:
    """The verdicts without rules for a single size that the sizes around it contradict.

    They do where there is one on either side, as close as sizes are looked for, and the candidate is slower than the
    default at both. `ratios` are typical ones by ranks, size and candidate; what was not measured contradicts nothing.
    """
    sizes = [verdict for verdict in verdicts if not verdict.is_held_out]
    contradicted = [
        lone
        for below, lone, above in zip(sizes, sizes[1:], sizes[2:], strict=False)
        if lone.is_changed and all(_contradicts(other, lone, ratios) for other in (below, above))
    ]
    return [
        replace(verdict, is_changed=False) if verdict in contradicted else verdict
        for verdict in verdicts
    ]


def _contradicts(
    other: SizeVerdict, lone: SizeVerdict, ratios: Mapping[tuple[int, int, str], float]
) -> bool:
    assert lone.candidate is not None
    first, last = sorted(verdict.cell.message_bytes for verdict in (other, lone))
    is_close = other.cell.ranks == lone.cell.ranks and last <= CLOSE * max(1, first)
    key = (other.cell.ranks, other.cell.message_bytes, lone.candidate.name)
    return is_close and ratios.get(key, 0.0) > 1.0


def _passes(point: SizeToConfirm, ratio: CandidateRatio, raced: Raced) -> bool:
    is_whole = ratio.launches >= LOOKS[0] and point.candidate.name not in raced.dropped
    return is_whole and ratio.high < point.limit


def _in_ranges(
    points: Sequence[SizeToConfirm], passed: Sequence[SizeToConfirm]
) -> Iterable[SizeToConfirm]:
    """Those that passed; a held-out size only as part of a range, both ends of which passed, too."""
    for ranks in {point.cell.ranks for point in points}:
        of_ranks = sorted(
            (point for point in points if point.cell.ranks == ranks),
            key=lambda point: point.cell.message_bytes,
        )
        for place, point in enumerate(of_ranks):
            if point not in passed:
                continue
            if not point.is_held_out or (
                of_ranks[place - 1] in passed and of_ranks[place + 1] in passed
            ):
                yield point


def _default_seconds(raced: Raced, cell: Cell) -> float:
    medians = raced.default_seconds.get(cell)
    if not medians and cell in raced.cells:
        medians = raced.cells[cell].seconds.get("default")
    return float(np.median(medians)) if medians else math.nan


def tuning_of(
    operation: str, size_verdicts: Sequence[SizeVerdict], *, between_measured: bool = False
) -> Tuning:
    """Choices that hold for the numbers of ranks that were measured and for confirmed ranges of sizes only.

    A range reaches between two sizes that are close or have a held-out one between them that passed; with
    `between_measured`, where nobody holds sizes out, between any two neighbours of the same choice.
    """
    choices: list[Choice] = []
    for ranks in sorted({size_verdict.cell.ranks for size_verdict in size_verdicts}):
        of_ranks = [
            size_verdict for size_verdict in size_verdicts if size_verdict.cell.ranks == ranks
        ]
        for place, verdict in enumerate(of_ranks):
            if verdict.is_held_out:
                continue
            choices.append(_choice(verdict))
            last = not _goes_on(of_ranks, place, between_measured)
            if verdict.is_changed and last and operation != "barrier":
                choices.append(_default_from(ranks, verdict.cell.message_bytes + 1))
        choices.append(_default_from(ranks + 1, 1))
    unique = {
        (choice.ranks, choice.message_bytes): choice for choice in choices
    }  # what was measured comes last
    ordered = sorted(unique.values(), key=lambda choice: (choice.ranks, choice.message_bytes))
    return Tuning(operation, MEASURED, tuple(ordered))


def _goes_on(of_ranks: Sequence[SizeVerdict], place: int, between_measured: bool) -> bool:
    """Whether the range of the choice at `place` reaches to the next size of the same choice.

    That is close, or a held-out one between them passed.
    """
    here = of_ranks[place]
    after = of_ranks[place + 1] if place + 1 < len(of_ranks) else None
    if after is not None and after.is_held_out:
        if not after.is_changed:
            return False
        after = of_ranks[place + 2]
    return (
        after is not None
        and after.is_changed
        and after.candidate == here.candidate
        and (
            between_measured or of_ranks[place + 1].is_held_out or _is_close(here.cell, after.cell)
        )
    )


def _is_close(here: Cell, after: Cell) -> bool:
    first, last = here.message_bytes, after.message_bytes
    return last - first < 2 or last < CLOSE * first


def _choice(verdict: SizeVerdict) -> Choice:
    cell, candidate, ratio = verdict.cell, verdict.candidate, verdict.ratio
    value, low, high = (1.0, 1.0, 1.0) if ratio is None else (ratio.value, ratio.low, ratio.high)
    name = candidate.name if candidate else "default"
    seconds = verdict.default_seconds
    kind = CHANGED if verdict.is_changed else UNCLEAR if candidate else DEFAULT
    return Choice(
        ranks=cell.ranks,
        message_bytes=cell.message_bytes,
        algorithm=name if verdict.is_changed else "default",
        peers=None,
        rounds=None,
        seconds=seconds * value if verdict.is_changed else seconds,
        baseline="default",
        baseline_seconds=seconds,
        best=name,
        best_peers=None,
        best_seconds=seconds * value,
        gain=1 - value,
        gain_low=1 - high,
        gain_high=1 - low,
        verdict=kind,
        extrapolated=None,
        native=candidate.native if candidate and verdict.is_changed else None,
    )


def _default_from(ranks: int, message_bytes: int) -> Choice:
    """Where nothing was measured, the MPI decides by itself."""
    cell = Cell("", ranks, message_bytes)
    return _choice(SizeVerdict(cell, None, None, math.nan, False, False))
