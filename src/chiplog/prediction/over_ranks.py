"""Which algorithm wins for which numbers of ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chiplog.collectives.algorithm import Task
from chiplog.errors import UsageError
from chiplog.prediction.result import LOWER_BOUND, Prediction


@dataclass(frozen=True)
class Reign:
    """From `first_ranks` to `last_ranks`, of those that were tried, the same algorithms may be fastest.

    With several of them it is unclear which one is.
    """

    first_ranks: int
    last_ranks: int
    algorithms: tuple[str, ...]


def tried_ranks(most_ranks: int) -> tuple[int, ...]:
    """Powers of two, the middle between each two of them, and `most_ranks` itself.

    >>> tried_ranks(20)
    (2, 3, 4, 6, 8, 12, 16, 20)
    """
    if most_ranks < 2:
        raise UsageError(f"--ranks: is {most_ranks}; a plot over ranks needs 2 or more.")
    powers = [1 << exponent for exponent in range(1, most_ranks.bit_length())]
    below = {ranks for power in powers for ranks in (power, power + power // 2)}
    return tuple(sorted({ranks for ranks in below if ranks <= most_ranks} | {most_ranks}))


def predict_over_ranks(
    ask: Callable[[Task], tuple[Prediction, ...]], task: Task
) -> tuple[Prediction, ...]:
    """What `ask`, such as a partial `predict`, says for each of tried_ranks(task.ranks), by ascending ranks."""
    return tuple(
        row for ranks in tried_ranks(task.ranks) for row in ask(replace(task, ranks=ranks))
    )


def reigns(rows: Sequence[Prediction]) -> tuple[Reign, ...]:
    """Neighbouring numbers of ranks with the same winners, put together; `rows` as of predict_over_ranks."""
    winners: dict[int, set[str]] = {}
    for row in rows:
        if row.algorithm != LOWER_BOUND and row.verdict in ("fastest", "unclear", "only"):
            winners.setdefault(row.ranks, set()).add(row.algorithm)
    all_reigns: list[Reign] = []
    for ranks, names in winners.items():
        algorithms = tuple(sorted(names))
        if all_reigns and all_reigns[-1].algorithms == algorithms:
            all_reigns[-1] = replace(all_reigns[-1], last_ranks=ranks)
        else:
            all_reigns.append(Reign(ranks, ranks, algorithms))
    return tuple(all_reigns)
