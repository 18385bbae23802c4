"""The fits of one process to many: what they find, what they refuse to say, and where they are used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from json_schemas import validate
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset
from synthetic_one_to_many import logfp_truth, lop_truth, one_to_many_dataset

from chiplog.dataset.series import Dataset, Series
from chiplog.errors import UsageError
from chiplog.fitting.choice import methods_of
from chiplog.fitting.fit import fit, fit_all
from chiplog.fitting.model_file import fits_from_json, fits_to_json
from chiplog.fitting.request import FitRequest
from chiplog.fitting.result import Fit, Parameter
from chiplog.models import lop_paper
from chiplog.models.lop import seconds_per_message
from chiplog.models.piecewise import Piece
from chiplog.protocol_changes.find import find_changes

LOGFP = {"f": 7.0, "o_min": 0.18e-6, "o_max": 1.6e-6, "L": 5e-6, "g": 5e-6}
SEND = (22.4558e-6, -0.0140, 9.1637e-6, 0.0174e-6, -0.0625, 101.3065)
RDMA_WRITE = (16.7937e-6, 0.0058, 4.4642e-6, 4.4751e-6, -0.0642, 12.9209)
OVERHEAD = {"l1": 0.52e-6, "l2": 0.84e-6, "l3": -0.12}
PEERS = tuple(range(1, 17))
NOISE = SyntheticDisturbance(noise=0.03)


def logfp_run(
    peers: tuple[int, ...] = PEERS, operation: str = "rdma-write", **changed: float
) -> Dataset:
    theta = {**LOGFP, **changed}
    return one_to_many_dataset(
        logfp_truth(theta), peers, operation=operation, disturbance=NOISE, seed=1
    )


def parameters(found: Fit) -> dict[str, Parameter]:
    return found.segments[0].parameters


def values(found: Fit) -> dict[str, float]:
    return {name: one.value for name, one in parameters(found).items() if one.value is not None}


@pytest.mark.parametrize("printed", [SEND, RDMA_WRITE])
@pytest.mark.parametrize("peers", [PEERS, (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)])
def test_lop_recovers_the_published_curves_within_one_percent(
    printed: tuple[float, ...], peers: tuple[int, ...]
) -> None:
    truth = lop_paper.identifiable(printed)
    run = one_to_many_dataset(lop_truth(truth, OVERHEAD), peers)
    curve, overhead = fit(run, ["lop", "lop-overhead"])
    asked = np.arange(1, max(peers) + 1)
    found = seconds_per_message(asked, values(curve))
    assert found == pytest.approx(seconds_per_message(asked, truth), rel=0.01)
    assert values(overhead) == pytest.approx(OVERHEAD, rel=0.01)
    assert curve.error.max_relative < 0.01
    assert (curve.direction, overhead.direction) == ("round-trip", "call")


def test_a_train_to_all_peers_in_turn_is_read_as_many_sends_as_a_train_to_one() -> None:
    in_turn = logfp_run()
    to_one = replace(
        in_turn,
        series=tuple(
            replace(one, peers=1) if one.pattern == "send_overhead" else one
            for one in in_turn.series
        ),
    )
    found, same = (values(fit(run, ["logfp"], seed=1)[0]) for run in (in_turn, to_one))
    assert found == same
    assert found["o_min"] == pytest.approx(LOGFP["o_min"], rel=0.05)


def test_no_parameter_of_lop_leaves_its_bounds_where_the_curve_is_another() -> None:
    found = parameters(fit(logfp_run(), ["lop"])[0])
    for symbol, least in {"C": 0.0, "l1": 0.0, "l2": -1.0, "A": 0.0, "tau": 0.0}.items():
        one = found[symbol]
        assert one.low is not None
        assert one.low >= least


def test_a_curve_of_few_points_is_refused_with_the_number_it_needs() -> None:
    run = one_to_many_dataset(lop_truth(lop_paper.identifiable(SEND), OVERHEAD), (1, 2, 4, 8, 16))
    one = parameters(fit(run, ["lop"])[0])["tau"]
    assert not one.identified
    assert "5 values of p" in (one.reason or "")
    assert "at least 6" in (one.reason or "")


@pytest.mark.parametrize("statistic", ["minimum", "median", "mean"])
def test_logfp_recovers_its_parameters_by_every_statistic(statistic: str) -> None:
    found = fit(logfp_run(), ["logfp"], statistic=statistic)[0]
    assert values(found)["f"] == 7
    for symbol in ("L", "o_min", "o_max", "g"):
        assert values(found)[symbol] == pytest.approx(LOGFP[symbol], rel=0.1)
    assert found.statistic == statistic


def test_the_least_round_trip_per_message_stands_beside_f_and_is_wrong() -> None:
    found = values(fit(logfp_run(tuple(range(1, 33)), L=2e-6, g=1e-6), ["logfp"])[0])
    assert found["f"] == 7
    assert found["f_argmin"] == 10


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"g": 0.15e-6}, "either g <= o_min"),
        ({"f": 40.0}, "no measured p lies beyond P*"),
        ({"f": 15.0}, "only one measured p, 16, lies beyond P*"),
    ],
)
def test_f_and_g_are_not_identified_where_no_message_waits(
    changed: dict[str, float], words: str
) -> None:
    found = fit(logfp_run(**changed), ["logfp"])[0]
    for symbol in ("f", "g"):
        assert not parameters(found)[symbol].identified
        assert words in (parameters(found)[symbol].reason or "")
    assert values(found)["L"] == pytest.approx(5e-6, rel=0.05)
    assert found.error.mean_relative < 0.05


def test_f_is_not_identified_where_two_values_fit_and_predictions_still_have_one() -> None:
    noisy = SyntheticDisturbance(noise=0.15)
    theta = {**LOGFP, "L": 2e-6, "g": 1e-6}
    run = one_to_many_dataset(
        logfp_truth(theta), PEERS, samples=3, visits=1, disturbance=noisy, seed=3
    )
    found = fit(run, ["logfp"])[0]
    assert not parameters(found)["f"].identified
    assert "of the evidence" in (parameters(found)["f"].reason or "")
    assert parameters(found)["g"].identified
    assert found.error.points == len(PEERS)
    assert found.error.mean_relative < 0.2


def test_without_post_times_the_overheads_are_not_made_up() -> None:
    run = logfp_run()
    only = tuple(one for one in run.series if one.pattern == "one_to_many")
    found = parameters(fit(replace(run, series=only), ["logfp"])[0])
    assert not any(found[name].identified for name in ("L", "o_min", "o_max", "g", "f"))
    assert "can't be told apart" in (found["o_max"].reason or "")


def test_posts_may_be_counted_by_peers_or_by_train() -> None:
    run = logfp_run()
    trains = tuple(
        replace(one, train=one.peers, peers=1) if one.pattern == "send_overhead" else one
        for one in run.series
    )
    assert values(fit(replace(run, series=trains), ["logfp"])[0])["f"] == 7


def receives(run: Dataset, seconds: float) -> Dataset:
    extra = [
        replace(one, pattern="receive_overhead", peers=1, seconds=np.full(20, seconds))
        for one in run.series
        if one.pattern == "send_overhead" and one.peers == 1
    ]
    longer = [
        replace(one, seconds=one.seconds + 2 * seconds) if one.pattern == "one_to_many" else one
        for one in run.series
    ]
    return replace(run, series=(*longer, *extra))


def test_receive_overhead_is_taken_off_where_it_was_measured_and_named_where_not() -> None:
    run = receives(logfp_run(operation="send"), 1e-6)
    found = parameters(fit(run, ["logfp"])[0])
    assert found["o_r"].value == pytest.approx(1e-6)
    assert found["L"].value == pytest.approx(5e-6, rel=0.03)
    unmeasured = tuple(one for one in run.series if one.pattern != "receive_overhead")
    bare = parameters(fit(replace(run, series=unmeasured), ["logfp"])[0])
    assert bare["L"].value == pytest.approx(6e-6, rel=0.03)
    assert "holds o_r" in (bare["L"].reason or "")


def test_logp_is_the_line_through_all_round_trips_unless_posting_hides_the_gap() -> None:
    theta = {**LOGFP, "f": 1.0, "o_max": 0.0, "o_min": 1e-6, "g": 2e-6}
    run = one_to_many_dataset(logfp_truth(theta), PEERS)
    found = values(fit(run, ["logp"])[0])
    assert found["g"] == pytest.approx(2e-6)
    assert found["L"] == pytest.approx(5e-6)
    hidden = one_to_many_dataset(logfp_truth({**theta, "g": 0.5e-6}), PEERS)
    hidden_fit = fit(hidden, ["logp"])[0]
    assert not parameters(hidden_fit)["g"].identified
    assert "does not exceed o_s" in (parameters(hidden_fit)["g"].reason or "")
    assert hidden_fit.error.max_relative < 1e-9


def test_each_message_size_has_its_own_parameters() -> None:
    run, other = logfp_run(), logfp_run(g=3e-6, f=4.0)
    larger = tuple(
        replace(one, message_bytes=64, record_id=one.record_id + 10_000) for one in other.series
    )
    found = fit(replace(run, series=(*run.series, *larger)), ["logfp"])[0]
    assert [segment.first_bytes for segment in found.segments] == [8, 64]
    assert [one.parameters["f"].value for one in found.segments] == [7, 4]


def test_ways_of_posting_and_operations_are_fitted_apart() -> None:
    run, other = logfp_run(), logfp_run(g=3e-6, f=4.0)
    lists = tuple(
        replace(one, posting="list", record_id=one.record_id + 10_000) for one in other.series
    )
    reads = tuple(
        replace(one, operation="rdma-read", record_id=one.record_id + 20_000)
        for one in other.series
    )
    found = fit(replace(run, series=(*lists, *run.series, *reads)), ["logfp"])
    assert {(one.operation, one.posting): values(one)["f"] for one in found} == {
        ("rdma-write", "normal"): 7,
        ("rdma-write", "list"): 4,
        ("rdma-read", "normal"): 4,
    }
    assert [one.posting for one in fits_from_json(fits_to_json(found))] == [
        one.posting for one in found
    ]


@pytest.mark.parametrize("model", ["logp", "logfp"])
def test_the_receive_overhead_of_a_one_sided_operation_is_fixed_and_not_fitted(model: str) -> None:
    for operation in ("rdma-write", "rdma-read", "atomic"):
        o_r = fit(logfp_run(operation=operation), [model])[0].segments[0].parameters["o_r"]
        assert (o_r.value, o_r.low, o_r.high, o_r.identified) == (0.0, 0.0, 0.0, True)
        assert o_r.reason is not None and o_r.reason.startswith("fixed by the operation")
    found = fit(logfp_run(operation="rdma-write-immediate"), [model])[0].segments[0].parameters
    assert "o_r" not in found


def round_trips() -> tuple[Series, ...]:
    truth = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
    return synthetic_dataset([Piece(None, truth)], size_grid(4096), samples=5).series


def test_round_trips_of_pairs_and_of_many_peers_live_in_one_run() -> None:
    run = logfp_run()
    mixed = replace(run, series=(*run.series, *round_trips()))
    found = {(one.model, one.method) for one in fit(mixed, ["loggp", "logp", "logfp"])}
    assert found == {
        ("logp", "one-to-many"),
        ("logfp", "one-to-many"),
        ("loggp", "prtt"),
        ("logp", "prtt"),
    }
    everything = fit(mixed, ["logp", "lop"], method="all")
    assert ("logp", "one-to-many") in {(one.model, one.method) for one in everything}


def test_a_run_whose_peers_were_measured_in_its_warm_up_only_says_what_it_lacks() -> None:
    warm_up = [
        replace(series, tag={"purpose": "warm-up"}, record_id=-1)
        for series in logfp_run(operation="send").series
    ]
    run = Dataset({}, (*warm_up, *round_trips()), True, "run.jsonl")
    outcome = fit_all(run, FitRequest(("loggp", "logfp")))
    assert [fit.model for fit in outcome.fits] == ["loggp"]
    (left_out,) = outcome.left_out
    assert left_out.model == "logfp"
    assert "lacks round trips to many peers" in left_out.sentence


def test_series_over_peers_are_no_series_over_sizes() -> None:
    assert find_changes(logfp_run()).series == find_changes(logfp_run((1,))).series
    mixed = replace(logfp_run(), series=(*logfp_run(operation="send").series, *round_trips()))
    assert find_changes(mixed).consensus == ()
    culler = parameters(fit(mixed, ["loggp"], method="culler")[0])
    assert culler["o_s"].value == pytest.approx(1e-6, rel=0.01)


def test_a_model_without_its_series_is_refused_by_name() -> None:
    pairs = replace(logfp_run(), series=round_trips())
    with pytest.raises(
        UsageError, match="Model lop by one-to-many: the run lacks round trips to many peers"
    ):
        fit(pairs, ["lop"])
    with pytest.raises(
        UsageError, match="lop-overhead by one-to-many: the run lacks the time to post p sends"
    ):
        fit(pairs, ["lop-overhead"])
    with pytest.raises(UsageError, match="Model loggp by prtt: the run lacks round trips"):
        fit(logfp_run(), ["loggp"])
    with pytest.raises(UsageError, match="lop can't be fitted by prtt; it accepts one-to-many"):
        methods_of("lop", "prtt")


def test_fits_hold_the_latencies_of_lop_as_the_paper_prints_them_and_read_consistently() -> None:
    peers = (1, 2, 4, 8, 16, 32, 64)
    run = one_to_many_dataset(lop_truth(lop_paper.identifiable(SEND), OVERHEAD), peers)
    curves = {one.quantity: one for one in fit(run, ["lop"])[0].curves}
    literal = 1e6 * curves["L_printed_over_peers"].measured_seconds
    golden = {1: 8.4349, 2: 3.4872, 4: 1.3879, 8: 0.9293, 16: 1.4465, 64: 2.6688}
    for p, seconds in golden.items():
        assert literal[peers.index(p)] == pytest.approx(seconds, abs=1e-3)
    whole, of_list = (curves[name] for name in ("L_over_peers", "L_list_over_peers"))
    at_four = 4 * 7.1979 / 2 - 0.7365 - 1.4745
    assert 1e6 * whole.measured_seconds[2] == pytest.approx(at_four, abs=2e-3)
    assert 1e6 * of_list.measured_seconds[2] == pytest.approx(at_four - 3 * 0.7365, abs=2e-3)
    assert whole.predicted_seconds == pytest.approx(whole.measured_seconds, rel=1e-3)
    assert np.all(whole.low_seconds <= whole.measured_seconds + 1e-12)


def test_a_model_with_posts_predicts_the_latencies_and_none_are_made_up_without_o_of_one() -> None:
    (found,) = fit(logfp_run(), ["logfp"])
    curve = next(one for one in found.curves if one.quantity == "L_over_peers")
    assert curve.predicted_seconds == pytest.approx(curve.measured_seconds, rel=0.05)
    (without,) = fit(logfp_run(peers=tuple(range(2, 17))), ["logfp"])
    assert not any(one.quantity.startswith("L_") for one in without.curves)


def test_a_model_file_keeps_the_curve_over_the_peers() -> None:
    found = fit(logfp_run(), ["logfp", "lop-overhead"])
    document = fits_to_json(found)
    validate(document)
    again = fits_from_json(document)
    assert again[0].curves[0].peers is not None
    assert again[0].curves[0].peers.tolist() == list(PEERS)
    assert again[0].segments == found[0].segments


def test_records_of_other_numbers_of_peers_are_no_visits_of_the_same_point() -> None:
    run = logfp_run()
    placed = tuple(replace(one, placement_seconds=1e-7 * (1 + one.peers % 2)) for one in run.series)
    found = fit(replace(run, series=placed), ["logfp"])[0]
    assert found.error.points == len(PEERS)
    assert found.warnings == ()
