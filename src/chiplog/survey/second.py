"""The second measurement of a survey: suspects beside healthy nodes, again and in both directions.

Some whole rounds of the sweep are measured, in which each node meets others, so all healthy nodes are controls; and
rounds of the suspected pairs, of which hundreds fit into one. So how many rounds there are does not grow with the
machine. Nodes and pairs that are slow in them follow one pair after the other, and slow uplinks each filled by itself,
with controls: only then it shows whether they are slow alone.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from chiplog.survey.of_run import measured_again, sweep_fits
from chiplog.survey.plan import (
    BANDWIDTH,
    LATENCY,
    ROUNDS_AGAIN,
    alone_requests,
    second_requests,
)
from chiplog.survey.suspects import pair_rounds, pairs_alone
from chiplog.survey.uplinks_alone import uplinks_alone
from chiplog.survey.verdict import slow_beside_others

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset
    from chiplog.plan.request import Request
    from chiplog.survey.plan import Sweep

PURPOSES = {"latency": LATENCY, "bandwidth": BANDWIDTH}


def second_measurement(dataset: Dataset, sweep: Sweep) -> tuple[Request, ...]:
    """The requests that follow on those of `sweep`, whose first visit is in `dataset`.

    The same samples and options give the same requests, so that an interrupted second measurement can be resumed.
    """
    drawn = random.Random(sweep.options.seed).sample(
        range(len(sweep.rounds)), min(ROUNDS_AGAIN, len(sweep.rounds))
    )
    chosen = {}
    pairs = {}
    shuffle = random.Random(sweep.options.seed)
    for kind, fit in sweep_fits(dataset).items():
        in_time = _rounds_in_time(dataset, PURPOSES[kind])
        chosen[PURPOSES[kind]] = [in_time[place] for place in drawn if place < len(in_time)]
        pairs[PURPOSES[kind]] = pair_rounds(fit, shuffle)
    return second_requests(sweep, chosen, pairs)


def measurement_alone(dataset: Dataset, sweep: Sweep, first_number: int) -> tuple[Request, ...]:
    """The requests that follow on all others, which are in `dataset`; none where nobody's bandwidth is slow.

    The same samples and options give the same requests, numbered from `first_number` on.
    """
    fit = sweep_fits(dataset).get("bandwidth")
    if fit is None:
        return ()
    slow = slow_beside_others(fit, measured_again(dataset, "bandwidth"))
    shuffle = random.Random(sweep.options.seed)
    parts = pairs_alone(fit, slow.nodes, slow.pairs, shuffle)
    uplinks = uplinks_alone(fit, slow.uplinks, shuffle)
    return alone_requests(sweep, parts, uplinks, first_number)


def _rounds_in_time(dataset: Dataset, purpose: str) -> list[int]:
    """The rounds of the sweep, in the order in which they were measured."""
    of_sweep = (series for series in dataset.series if series.visit == 0 and series.by_pair)
    return list(
        dict.fromkeys(
            series.round
            for series in of_sweep
            if series.tag.get("purpose") == purpose and series.round is not None
        )
    )
