"""How often a list of violated guidelines is wrong, and how often it names what is violated."""

from __future__ import annotations

import pytest
from simulated_guidelines import SimulatedCalls, Truth

from chiplog.tune.guidelines.guideline import TimedCall, guidelines_of
from chiplog.tune.guidelines.judge import JudgeOptions, judge
from chiplog.tune.measured.statistics import RISK

EVERY = guidelines_of(("bcast", "allreduce", "gather"), (4,), (8, 512), "byte")
LISTS = 200


def lists(truth: Truth, count: int, launches: int, **machine: float) -> list[list[TimedCall]]:
    """Of so many MPIs, the calls that surely violate a guideline."""
    options = JudgeOptions(launches=launches)
    judgements = (
        judge(SimulatedCalls(truth, seed, **machine), EVERY, options)  # type: ignore[arg-type]
        for seed in range(count)
    )
    return [
        [finding.guideline.call for finding in judgement.violations] for judgement in judgements
    ]


# All guidelines hold, but none with anything to spare: the worst that there is for a list.
@pytest.mark.parametrize(
    ("launches", "machine"),
    [
        (5, {"launch_sigma": 0.03, "outlier_share": 0.0}),
        (5, {"launch_sigma": 0.1, "outlier_share": 0.1}),
        (9, {"launch_sigma": 0.03, "outlier_share": 0.05}),
    ],
)
def test_lists_of_an_mpi_that_holds_all_guidelines_are_empty_at_the_stated_rate(
    launches: int, machine: dict[str, float]
) -> None:
    wrong = sum(bool(calls) for calls in lists(lambda call: 1e-5, LISTS, launches, **machine))
    assert wrong <= RISK * LISTS


@pytest.mark.parametrize(("factor", "launches", "least"), [(2.0, 5, 0.6), (1.3, 12, 0.6)])
def test_a_call_that_is_slower_than_all_others_is_mostly_named(
    factor: float, launches: int, least: float
) -> None:
    bad = next(line.call for line in EVERY if line.call.cell.operation == "allreduce")

    def truth(call: TimedCall) -> float:
        return 1e-5 * (factor if call == bad else 1.0)

    named = lists(truth, 20, launches, outlier_share=0.0)
    assert sum(bad in calls for calls in named) >= least * len(named)
    assert sum(set(calls) > {bad} for calls in named) <= 2
