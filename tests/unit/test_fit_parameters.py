"""What a fit says of parameters that the data can and can't tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import ASSESSMENT, Ask, SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.dataset.series import Dataset, Series
from chiplog.errors import UsageError
from chiplog.fitting.fit import fit
from chiplog.fitting.result import Fit, Parameter
from chiplog.models.piecewise import Piece

TRUTH = {"L": 5e-6, "o_s": 1e-6, "o_r": 1.2e-6, "g": 2e-6, "G": 0.5e-9}
SIZES = size_grid(1 << 16, per_octave=1)


def made(theta: dict[str, float], **options: object) -> Dataset:
    settings_: dict[str, object] = {"samples": 5, "visits": 1, **options}
    sizes = settings_.pop("sizes", SIZES)
    return synthetic_dataset([Piece(None, theta)], sizes, **settings_)  # type: ignore[arg-type]


def fitted(dataset: Dataset, model: str = "loggp", **options: object) -> Fit:
    return fit(dataset, [model], **{"boundaries": None, **options})[0]  # type: ignore[arg-type]


def parameters(dataset: Dataset, model: str = "loggp", **options: object) -> dict[str, Parameter]:
    return fitted(dataset, model, **options).segments[0].parameters


def without(dataset: Dataset, pattern: str) -> Dataset:
    kept = tuple(one for one in dataset.series if one.pattern != pattern)
    return replace(dataset, series=kept)


def value(parameter: Parameter) -> float:
    assert parameter.value is not None, parameter.reason
    return parameter.value


def test_where_the_overhead_hides_the_gap_g_is_not_identified_and_the_reason_has_the_numbers() -> (
    None
):
    found = parameters(made({**TRUTH, "o_s": 4e-6, "G": 1e-12}, sizes=size_grid(1024)))
    assert not found["g"].identified
    assert found["g"].value is None
    assert "the overhead (4 us at 1 B) hides the gap" in (found["g"].reason or "")
    assert "0 of" in (found["g"].reason or "")


def test_gaps_that_show_above_some_size_only_still_give_g_and_capital_g() -> None:
    found = parameters(made({**TRUTH, "o_s": 3.46e-6, "o_r": 3.46e-6, "g": 0.915e-6, "G": 8.49e-9}))
    assert value(found["g"]) == pytest.approx(0.915e-6, rel=1e-3)
    assert value(found["G"]) == pytest.approx(8.49e-9, rel=1e-3)


def test_where_gaps_are_hidden_capital_g_comes_from_the_round_trips_and_says_so() -> None:
    found = parameters(made({**TRUTH, "o_s": 90e-6, "o_r": 1e-6}))
    assert not found["g"].identified
    assert value(found["G"]) == pytest.approx(0.5e-9, rel=1e-3)
    assert "half round trips" in (found["G"].reason or "")


def test_latency_below_the_overheads_is_not_identified_but_half_the_round_trip_is() -> None:
    found = parameters(made({**TRUTH, "L": -0.5e-6}))
    assert not found["L"].identified
    assert "half the round trip (1.7 us) does not exceed the overheads" in (found["L"].reason or "")
    assert value(found["L_half"]) == pytest.approx(1.7e-6, rel=1e-3)


def test_noise_that_reaches_from_the_latency_to_zero_makes_it_not_identified() -> None:
    noisy = made(
        {**TRUTH, "L": 0.02e-6},
        samples=20,
        visits=2,
        disturbance=SyntheticDisturbance(noise=0.1),
        seed=3,
    )
    assert not parameters(noisy)["L"].identified


def test_constant_times_give_no_capital_g() -> None:
    found = parameters(made({**TRUTH, "G": 0.0}))
    assert not found["G"].identified
    assert "do not grow" in (found["G"].reason or "")
    assert value(found["g"]) == pytest.approx(2e-6)


def test_too_few_sizes_for_a_line_are_counted_in_the_reason() -> None:
    found = parameters(made(TRUTH, sizes=(1, 1024)))
    assert not found["g"].identified
    assert "at 2 sizes" in (found["g"].reason or "")


def test_a_missing_pattern_is_named() -> None:
    found = parameters(without(made(TRUTH), "receive_overhead"))
    assert not found["o_r"].identified
    assert not found["L"].identified
    assert "o_r was not measured" in (found["L"].reason or "")


def test_delays_below_the_gap_are_not_used_for_the_overhead() -> None:
    asks = (Ask("prtt"), Ask("prtt", 10), Ask("prtt", 10, 0.01), Ask("receive_overhead", 1, 1.5))
    found = parameters(made(TRUTH, asks=asks))
    assert not found["o_s"].identified
    assert "not longer than the gap" in (found["o_s"].reason or "")
    assert found["o_s"].high is not None and found["o_s"].high >= TRUTH["o_s"]


def growing(one: Series) -> Series:
    """The series as it is where a send costs 0.2 ns a byte more."""
    extra = 0.2e-9 * (one.message_bytes - 1)
    if one.pattern == "prtt" and one.delay_seconds > 0:
        return replace(one, seconds=one.seconds + (one.train - 1) * extra)
    return one


def test_an_overhead_that_grows_with_the_size_is_that_of_a_small_message_plus_a_growth() -> None:
    dataset = made(TRUTH)
    dataset = replace(dataset, series=tuple(growing(one) for one in dataset.series))
    found = parameters(dataset)
    assert value(found["o_s"]) == pytest.approx(1e-6, rel=1e-3)
    assert value(found["O"]) == pytest.approx(0.2e-9, rel=1e-3)


def test_a_constant_overhead_has_no_growth() -> None:
    assert "O" not in parameters(made(TRUTH, disturbance=SyntheticDisturbance(noise=0.02)))


def test_drift_between_visits_cancels_in_the_differences_of_a_record() -> None:
    drifting = made(
        TRUTH, visits=3, disturbance=SyntheticDisturbance(visit_noise=0.2), sizes=size_grid()
    )
    dataset = replace(drifting, series=tuple(_only_round_trips_drift(drifting)))
    assert value(parameters(dataset)["g"]) == pytest.approx(2e-6, rel=1e-6)


def _only_round_trips_drift(dataset: Dataset) -> list[Series]:
    """Each record's trains last (n-1) gaps more than its own, drifting, round trip."""
    base = {
        one.record_id: one.seconds[0]
        for one in dataset.series
        if one.pattern == "prtt" and one.train == 1
    }
    gaps = {size: 2e-6 + 0.5e-9 * (size - 1) for size in SIZES} | {
        int(size): 2e-6 + 0.5e-9 * (int(size) - 1) for size in dataset.sizes()
    }
    made_series = []
    for one in dataset.series:
        if one.pattern == "prtt" and one.train > 1 and one.delay_seconds == 0:
            exact = base[one.record_id] + (one.train - 1) * gaps[one.message_bytes]
            made_series.append(replace(one, seconds=np.full(one.seconds.size, exact)))
        else:
            made_series.append(one)
    return made_series


@pytest.mark.parametrize("method", ["prtt", "culler", "bell"])
def test_each_method_gets_the_same_exact_overheads_and_gaps(method: str) -> None:
    found = parameters(made(TRUTH), method=method)
    for symbol in ("o_s", "o_r", "g", "G"):
        assert value(found[symbol]) == pytest.approx(TRUTH[symbol], rel=1e-3)


def test_bell_finds_the_overhead_at_the_knee_of_its_delay_ladder() -> None:
    asks = (Ask("prtt"), Ask("prtt", 10), Ask("flood", 32), Ask("ping_pong"))
    ladder = tuple(Ask("prtt", 10, share, "bell") for share in (0.02, 0.05, 0.1, 0.2, 0.5))
    bare = (Ask("prtt", 10, 0.0, "bell"), Ask("prtt", 1, 0.0, "bell"))
    found = fitted(made(TRUTH, asks=asks + bare + ladder, sizes=size_grid(4096)), method="bell")
    first = found.segments[0].parameters
    assert value(first["o_s"]) == pytest.approx(1e-6, rel=1e-3)
    assert value(first["EEL"]) == pytest.approx(2 * 7.2e-6, rel=1e-3)
    assert "do not" not in (first["L"].reason or "")
    assert not first["L"].identified


def test_kielmann_gives_tables_and_a_latency_less_the_gap() -> None:
    found = fitted(made(TRUTH), "plogp")
    assert found.method == "kielmann"
    first = found.segments[0].parameters
    assert value(first["L"]) == pytest.approx(7.2e-6 - 2e-6, rel=1e-3)
    tables = {one.quantity: one for one in found.curves}
    assert tables["o_s"].measured_seconds == pytest.approx(np.full(len(SIZES), 1e-6))
    assert tables["gap"].measured_seconds[-1] == pytest.approx(2e-6 + 0.5e-9 * 65535, rel=1e-6)


def test_hockney_is_exact_on_its_own_line() -> None:
    found = parameters(made(TRUTH), "hockney")
    assert value(found["R"]) == pytest.approx(2e9, rel=1e-6)
    assert value(found["alpha"]) == pytest.approx(7.2e-6 - 0.5e-9, rel=1e-6)
    assert value(found["n_half"]) == pytest.approx(2e9 * (7.2e-6 - 0.5e-9), rel=1e-6)


def test_hockney_without_growth_has_no_bandwidth() -> None:
    found = parameters(made({**TRUTH, "G": 0.0}), "hockney")
    assert not found["R"].identified
    assert not found["n_half"].identified
    assert value(found["alpha"]) == pytest.approx(7.2e-6)


def test_logp_speaks_of_short_messages_only() -> None:
    found = fitted(made(TRUTH), "logp")
    assert found.segments[0].last_bytes == 512
    assert "G" not in found.segments[0].parameters
    assert value(found.segments[0].parameters["g"]) == pytest.approx(2e-6, rel=0.1)


def protocols() -> Dataset:
    return synthetic_dataset(
        [
            Piece(4096, {**TRUTH, "S": 4096.0}),
            Piece(None, {**TRUTH, "L": 9e-6, "g": 4e-6, "S": 4096.0}),
        ],
        tuple(sorted({*SIZES, 4097})),
        samples=5,
        visits=1,
    )


def test_s_is_the_last_size_whose_send_does_not_wait_for_a_late_receiver() -> None:
    found = fit(protocols(), ["loggps"], boundaries=[4096])[0]
    for segment in found.segments:
        assert segment.parameters["S"].value == 4096
    assert value(found.segments[1].parameters["L"]) == pytest.approx(9e-6, rel=1e-3)


def test_s_between_two_sizes_has_them_as_its_interval() -> None:
    dataset = protocols()
    kept = tuple(one for one in dataset.series if one.message_bytes != 4097)
    found = parameters(replace(dataset, series=kept), "loggps")["S"]
    assert (found.value, found.low, found.high) == (4096, 4096, 8191)


def test_a_send_that_takes_long_by_itself_has_not_waited_for_a_late_receiver() -> None:
    slow = {**TRUTH, "L": 0.1e-6, "o_s": 6e-6}
    late = Ask("late_receiver", 1, 0.7)  # 10 us: more than half of it is the send's own
    dataset = made(slow, sizes=size_grid(64), asks=(*ASSESSMENT[:-1], late))
    found = parameters(dataset, "loggps")["S"]
    assert not found.identified
    assert "no send waited" in (found.reason or "")


def test_s_is_not_identified_where_no_send_waits() -> None:
    found = parameters(made(TRUTH), "loggps")["S"]
    assert not found.identified
    assert "S is 65536 B or more" in (found.reason or "")


def test_s_is_not_identified_without_a_late_receiver() -> None:
    found = parameters(without(made(TRUTH), "late_receiver"), "loggps")["S"]
    assert "late_receiver" in (found.reason or "")


def test_the_cost_is_that_of_the_series_that_the_method_needs() -> None:
    dataset = made(TRUTH)
    found = fitted(dataset, "hockney")
    needed = dataset.select(pattern="prtt", train=1, delayed=False).series
    assert found.cost.messages == sum(one.messages for one in needed)
    assert found.cost.bytes == sum(one.bytes_sent for one in needed)
    assert found.cost.seconds == pytest.approx(sum(one.elapsed_seconds for one in needed))
    assert fitted(dataset).cost.messages > found.cost.messages


def test_errors_and_curves_cover_half_round_trips_and_trains() -> None:
    found = fitted(made(TRUTH))
    assert found.error.points == 2 * len(SIZES)
    assert found.error.max_relative < 1e-6
    assert found.error.mean_factor == pytest.approx(1.0)
    assert [one.quantity for one in found.curves] == ["half_round_trip", "gap", "o_s", "o_r"]
    for one in found.curves:
        assert one.predicted_seconds == pytest.approx(one.measured_seconds, rel=1e-6)


def test_a_model_that_does_not_describe_the_machine_says_so() -> None:
    ups_and_downs = [
        Piece(size, {**TRUTH, "L": 90e-6 if number % 2 else TRUTH["L"]})
        for number, size in enumerate(SIZES)
    ]
    found = fitted(synthetic_dataset(ups_and_downs, SIZES, samples=5))
    assert any("does not describe" in sentence for sentence in found.warnings)
    assert not fitted(made(TRUTH)).warnings


def test_equal_seeds_give_equal_intervals_and_other_seeds_others() -> None:
    noisy = made(TRUTH, disturbance=SyntheticDisturbance(noise=0.05))
    first, second, third = (parameters(noisy, seed=seed)["L"] for seed in (1, 1, 2))
    assert first == second
    assert first.low != third.low


def test_draws_are_kept_for_what_comes_after_the_fit() -> None:
    found = fitted(made(TRUTH, disturbance=SyntheticDisturbance(noise=0.05)))
    assert {"0/L", "0/o_s", "0/g", "0/G"} <= set(found.draws)
    assert all(0 < draws.size <= 200 for draws in found.draws.values())


@pytest.mark.parametrize("statistic", ["median", "minimum", "mean"])
def test_every_statistic_is_exact_without_noise(statistic: str) -> None:
    found = fitted(made(TRUTH), statistic=statistic)
    assert found.statistic == statistic
    assert value(found.segments[0].parameters["g"]) == pytest.approx(2e-6, rel=1e-6)


def test_gross_outliers_do_not_move_the_median() -> None:
    noisy = {"noise": 0.05, "outliers": 0.1}
    found = parameters(made(TRUTH, samples=200, disturbance=SyntheticDisturbance(**noisy)))
    assert value(found["L_half"]) == pytest.approx(7.2e-6, rel=0.005)


def test_intervals_are_not_narrower_than_the_clock_allows() -> None:
    fine, coarse = (parameters(made(TRUTH, resolution_ns=step))["L_half"] for step in (0.0, 100.0))
    assert value(coarse) == pytest.approx(value(fine))
    assert (coarse.high or 0) - (coarse.low or 0) > 5e-9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"method": "netgauge"},
            "prtt, culler, kielmann, bell, one-to-many, k=all, k=1, k=max, all",
        ),
        ({"method": "kielmann"}, "loggp can't be fitted by kielmann"),
        ({"statistic": "average"}, "median, minimum, mean"),
    ],
)
def test_what_a_fit_does_not_know_is_refused_with_what_it_accepts(
    options: dict[str, str], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        fitted(made(TRUTH), **options)


def test_a_dataset_without_round_trips_is_refused() -> None:
    dataset = without(without(made(TRUTH), "prtt"), "ping_pong")
    with pytest.raises(UsageError, match="round trips"):
        fitted(dataset, "hockney")


def test_a_dataset_without_series_is_refused() -> None:
    with pytest.raises(UsageError, match="no series"):
        fitted(replace(made(TRUTH), series=()))


def test_a_cold_first_record_of_single_samples_is_left_out_and_told() -> None:
    dataset = made(TRUTH, samples=1)
    cold = tuple(
        replace(one, seconds=3 * one.seconds) if one.record_id == 0 else one
        for one in dataset.series
    )
    found = fitted(replace(dataset, series=cold))
    assert value(found.segments[0].parameters["L_half"]) == pytest.approx(7.2e-6, rel=1e-3)
    assert any("cold" in sentence for sentence in found.warnings)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_no_parameter_is_ever_negative_whatever_the_times(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    dataset = made(TRUTH, sizes=(1, 16, 256, 4096, 65536), samples=3)
    wild = tuple(
        replace(one, seconds=10.0 ** rng.uniform(-7, -3, one.seconds.size))
        for one in dataset.series
    )
    for model in ("hockney", "logp", "loggp", "loggps", "plogp"):
        for found in fit(replace(dataset, series=wild), [model], method="all", boundaries=None):
            for one in (p for segment in found.segments for p in segment.parameters.values()):
                assert one.value is None or one.value >= 0
                assert one.low is None or one.low >= 0
                assert one.identified == (one.value is not None)
                assert one.identified or one.reason


def test_what_the_last_message_of_a_delayed_train_does_is_no_part_of_o_s() -> None:
    asks = (
        Ask("prtt"),
        Ask("prtt", 10),
        Ask("prtt", 10, 1.0),
        Ask("prtt", 3, 1.0),
        Ask("receive_overhead", 1, 1.5),
    )
    exact = made(TRUTH, asks=asks)

    def ended(one: Series) -> Series:
        return replace(one, seconds=one.seconds - (1e-6 if one.delay_seconds > 0 else 0.0))

    trains = [ended(one) if one.pattern == "prtt" else one for one in exact.series]
    two = parameters(replace(exact, series=tuple(trains)))
    one = parameters(replace(exact, series=tuple(t for t in trains if t.train != 3)))
    assert value(two["o_s"]) == pytest.approx(1e-6, rel=1e-6)
    assert value(one["o_s"]) == pytest.approx(1e-6 - 1e-6 / 9, rel=1e-6)
