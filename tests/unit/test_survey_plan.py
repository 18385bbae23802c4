"""The plan of a survey: each pair once in rounds of disjoint pairs, or as many partners for each node as asked for."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from chiplog.errors import CorruptFile, UsageError
from chiplog.machine_survey.job import ranks_of
from chiplog.machine_survey.plan import (
    ALONE,
    BANDWIDTH,
    LATENCY,
    SurveyOptions,
    Sweep,
    confirmation_requests,
    isolation_requests,
    make_sweep,
)
from chiplog.plan.assessment import records_of
from chiplog.plan.patterns.all_pairs import rounds_of


def partner(rank: int, round_: int, ranks: int) -> int | None:
    """Whom a rank meets in a round of the circle method; None if it is idle."""
    circle = rounds_of(ranks)
    if rank == circle:
        return round_
    image = (2 * round_ - rank) % circle
    if image == rank:
        image = circle
    return image if image < ranks else None


def pairs_of(round_: int, ranks: int) -> list[frozenset[int]]:
    met = ((rank, partner(rank, round_, ranks)) for rank in range(ranks))
    return [frozenset((one, other)) for one, other in met if other is not None and one < other]


def rounds(sweep: Sweep, purpose: str) -> list[int]:
    found = [one.series[0] for one in sweep.requests if one.tag["purpose"] == purpose]
    return [one.round for one in found if one.round is not None]


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 16, 33])
def test_each_pair_is_met_exactly_once_in_rounds_of_disjoint_pairs(ranks: int) -> None:
    sweep = make_sweep(SurveyOptions("tcp", ranks))
    assert len(sweep.rounds) == (ranks - 1 if ranks % 2 == 0 else ranks)
    for purpose in (LATENCY, BANDWIDTH):
        met: Counter[frozenset[int]] = Counter()
        for round_ in rounds(sweep, purpose):
            pairs = pairs_of(round_, ranks)
            assert len(frozenset().union(*pairs)) == 2 * len(pairs) == ranks // 2 * 2
            met.update(pairs)
        assert set(met.values()) == {1}
        assert len(met) == sweep.pairs == sweep.all_pairs == ranks * (ranks - 1) // 2


def test_a_sparse_sweep_gives_each_node_as_many_partners_as_asked_for() -> None:
    sweep = make_sweep(SurveyOptions("tcp", 64, sparse=10, seed=3))
    met = [pair for round_ in rounds(sweep, BANDWIDTH) for pair in pairs_of(round_, 64)]
    assert len(set(met)) == len(met) == sweep.pairs == 320
    assert set(Counter(node for pair in met for node in pair).values()) == {10}
    assert make_sweep(SurveyOptions("tcp", 64, sparse=10, seed=3)) == sweep
    assert make_sweep(SurveyOptions("tcp", 64, sparse=10, seed=4)).rounds != sweep.rounds


def test_more_sparse_rounds_than_there_are_measure_each_pair_once() -> None:
    sweep = make_sweep(SurveyOptions("tcp", 6, sparse=10))
    assert sorted(sweep.rounds) == list(range(5))


def test_latency_is_taken_pair_after_pair_and_bandwidth_at_once_with_a_sample_alone() -> None:
    sweep = make_sweep(SurveyOptions("tcp", 16))
    by_purpose = {
        purpose: [one.series[0] for one in sweep.requests if one.tag["purpose"] == purpose]
        for purpose in (LATENCY, BANDWIDTH, ALONE)
    }
    assert {one.at_once for one in by_purpose[LATENCY]} == {0}
    assert {one.at_once for one in by_purpose[BANDWIDTH]} == {1}
    (alone,) = by_purpose[ALONE]
    (together,) = [one for one in by_purpose[BANDWIDTH] if one.round == alone.round]
    assert (alone.at_once, alone.turned) == (0, together.turned)
    turned = [one.turned for one in by_purpose[BANDWIDTH]]
    assert sum(filter(None, turned)) == 7


def test_a_second_visit_measures_the_other_direction() -> None:
    sweep = make_sweep(SurveyOptions("tcp", 8, visits=2))
    series = [one.series[0] for one in sweep.requests if one.tag["purpose"] == BANDWIDTH]
    assert {(one.round, one.turned) for one in series} == {
        (round_, turned) for round_ in range(7) for turned in (0, 1)
    }


def test_the_sweep_of_a_thousand_nodes_is_planned_in_four_minutes() -> None:
    sweep = make_sweep(SurveyOptions("tcp", 1024))
    assert (len(sweep.rounds), sweep.pairs) == (1023, 523_776)
    assert sweep.seconds < 240


def test_declared_leaves_give_rounds_that_fill_uplinks_both_ways_over_two_visits() -> None:
    leaves = tuple(rank % 4 for rank in range(16))
    sweep = make_sweep(SurveyOptions("tcp", 16, visits=2, leaves=leaves))
    assert (len(sweep.rounds), sweep.pairs) == (15, 120)
    sending: Counter[int] = Counter()
    for request in sweep.requests:
        (series, *_) = request.series
        if request.tag["purpose"] != BANDWIDTH or series.links is None:
            continue
        crossing = [pair for pair in series.links if leaves[pair[0]] != leaves[pair[1]]]
        senders = Counter(leaves[pair[series.turned or 0]] for pair in crossing)
        assert set(senders.values()) <= {4}
        sending.update(senders.keys())
    assert sending == dict.fromkeys(range(4), 12)


def test_suspected_pairs_and_those_alone_are_measured_five_times_in_each_direction() -> None:
    sweep = make_sweep(SurveyOptions("tcp", 8))
    pairs = {BANDWIDTH: [((0, 5), (2, 7))]}
    second = confirmation_requests(sweep, {BANDWIDTH: sweep.rounds[:2]}, pairs)
    of_pairs = [one.series[0] for one in second if one.tag["purpose"] == "bandwidth-pairs-again"]
    assert Counter((one.links, one.turned) for one in of_pairs) == {
        (((0, 5), (2, 7)), 0): 5,
        (((0, 5), (2, 7)), 1): 5,
    }
    before = len(sweep.requests) + len(second)
    requests = isolation_requests(sweep, [((0, 1), (4, 2)), ((3, 1),)], [((0, 4), (1, 5))], before)
    assert [one.id for one in requests] == list(range(before, before + 30))
    alone = [one.series[0] for one in requests if one.tag["purpose"] == f"{ALONE}-again"]
    assert Counter((one.links, one.turned) for one in alone) == {
        (((0, 1), (4, 2)), 0): 5,
        (((0, 1), (4, 2)), 1): 5,
        (((3, 1),), 0): 5,
        (((3, 1),), 1): 5,
    }
    assert {one.at_once for one in alone} == {0}
    full = [one.series[0] for one in requests if one.tag["purpose"] == "uplink-again"]
    assert Counter(one.turned for one in full) == {0: 5, 1: 5}
    assert {(one.links, one.at_once) for one in full} == {(((0, 4), (1, 5)), 1)}
    assert json.loads(requests[1].line())["series"][0].get("links") != []


def test_a_header_keeps_the_options() -> None:
    options = SurveyOptions(
        "tcp", 16, sparse=3, seed=9, leaves=(0, 1) * 8, leaf_names=("west", "east")
    )
    stored = json.loads(json.dumps(options.to_json()))
    assert SurveyOptions.from_json(stored, "pairs.jsonl") == options
    for wrong in ([0, 1], [0, 1] * 9, ["0"] * 16, [True] * 16, {"0": 1}, 3):
        with pytest.raises(CorruptFile, match=r"plan\.leaves has no whole number for each rank"):
            SurveyOptions.from_json({**stored, "leaves": wrong}, "pairs.jsonl")
    for wrong in (["west"], ["west", 3], ["west", "\x1b[2J"], "we", {"0": 1}):
        with pytest.raises(CorruptFile, match=r"plan\.leaf_names has no name for each leaf"):
            SurveyOptions.from_json({**stored, "leaf_names": wrong}, "pairs.jsonl")
    unnamed = SurveyOptions.from_json({**stored, "leaf_names": None}, "pairs.jsonl")
    assert unnamed.leaf_names == ("leaf 0", "leaf 1")
    del stored["sparse"]
    with pytest.raises(CorruptFile, match=r"plan\.sparse is missing"):
        SurveyOptions.from_json(stored, "pairs.jsonl")
    with pytest.raises(UsageError, match="not begun by chiplog survey"):
        SurveyOptions.from_json({"transport": "tcp"}, "run.jsonl")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"ranks": 1}, "--ranks"),
        ({"sparse": 0}, "--sparse"),
        ({"visits": 0}, "--visits"),
        ({"visits": 101}, "--visits"),
        ({"bandwidth_bytes": 0}, "--bandwidth-bytes"),
    ],
)
def test_what_no_survey_can_do_is_named(options: dict[str, int], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        SurveyOptions(**{"transport": "tcp", "ranks": 4, **options})  # type: ignore[arg-type]


def test_a_request_leaves_out_what_only_all_pairs_have() -> None:
    (round_,) = records_of("all_pairs", 8, 4)[2]
    assert (round_.round, round_.ranks) == (2, 4)
    (request, *_) = make_sweep(SurveyOptions("tcp", 4)).requests
    (line,) = json.loads(request.line())["series"]
    assert (line["round"], line["at_once"], line["turned"]) == (request.series[0].round, 0, 0)
    (ping_pong,) = records_of("flood", 8, 2)[0]
    assert ping_pong.round is None


@pytest.mark.parametrize(
    ("launcher", "environment", "ranks"),
    [
        ("srun -N 32", {}, 32),
        ("srun -N32 -n 64", {}, 64),
        ("srun --nodes=8 --ntasks-per-node=1", {}, 8),
        ("srun --mpi=pmix", {"SLURM_NTASKS": "5"}, 5),
        ("srun", {"SLURM_JOB_NUM_NODES": "6"}, 6),
        ("mpirun -np 4", {"SLURM_NTASKS": "5"}, 4),
        ("mpirun", {}, None),
        ("srun -N 'x", {}, None),
        (None, {"SLURM_NTASKS": "5"}, None),
    ],
)
def test_the_launchers_words_tell_how_many_ranks_start(
    launcher: str | None, environment: dict[str, str], ranks: int | None
) -> None:
    assert ranks_of(launcher, environment) == ranks
