"""A winner at one size alone: is it a rule, or an accident of that size?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chiplog.tune.measured.cells import CLOSE
from chiplog.tune.measured.choices import SizeVerdict


def without_lone_sizes(
    verdicts: Sequence[SizeVerdict], ratios: Mapping[tuple[int, int, str], float]
) -> list[SizeVerdict]:
    """The verdicts without rules for one size that the sizes around it contradict.

    They do where both are close and the candidate is slower than the default at either. `ratios` are the candidates'
    typical ones by ranks, size and name; what was not measured there contradicts nothing.
    """
    kept = []
    for place, verdict in enumerate(verdicts):
        around = [verdicts[at] for at in (place - 1, place + 1) if 0 <= at < len(verdicts)]
        is_lone = verdict.is_changed and len(around) == len([0, 1])
        if is_lone and all(_contradicts(other, verdict, ratios) for other in around):
            kept.append(replace(verdict, is_changed=False))
        else:
            kept.append(verdict)
    return kept


def _contradicts(
    other: SizeVerdict, lone: SizeVerdict, ratios: Mapping[tuple[int, int, str], float]
) -> bool:
    assert lone.candidate is not None
    sizes = sorted(max(1, verdict.cell.message_bytes) for verdict in (other, lone))
    is_close = other.cell.ranks == lone.cell.ranks and sizes[1] <= CLOSE * sizes[0]
    key = (other.cell.ranks, other.cell.message_bytes, lone.candidate.name)
    return is_close and ratios.get(key, 0.0) > 1.0
