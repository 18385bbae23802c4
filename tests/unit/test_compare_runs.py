"""Two runs: faster, slower, same or unclear, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from synthetic import Ask, SyntheticDisturbance, synthetic_dataset

from chiplog.cli.tables import print_comparison
from chiplog.comparison.reasons import judge_whole
from chiplog.comparison.result import Compared, RunRow, comparison_to_json
from chiplog.comparison.runs import compare_runs, judge
from chiplog.comparison.threshold import over_threshold, parse_threshold
from chiplog.dataset.series import Dataset, Reference
from chiplog.errors import UsageError
from chiplog.machine_state.load import OTHER_PROGRAMS
from chiplog.models.piecewise import Piece

TRUTH = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
SIZES = (1, 64, 4096, 65536)


def run(scale: float = 1.0, *, noise: float = 0.02, seed: int = 0, samples: int = 30) -> Dataset:
    theta = {symbol: scale * value for symbol, value in TRUTH.items()}
    return synthetic_dataset(
        [Piece(None, theta)],
        SIZES,
        asks=(Ask("prtt"), Ask("prtt", 10), Ask("prtt", 10, 1.0)),
        samples=samples,
        disturbance=SyntheticDisturbance(noise=noise),
        seed=seed,
    )


def placed(dataset: Dataset, seconds: float) -> Dataset:
    series = tuple(replace(one, placement_seconds=seconds) for one in dataset.series)
    return replace(dataset, series=series)


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, "same"), (1.2, "slower"), (0.8, "faster")])
def test_each_size_and_the_whole_get_a_verdict_that_speaks_of_the_second_run(
    scale: float, verdict: str
) -> None:
    rows = compare_runs(run(seed=1), run(scale, seed=2))
    assert {row.verdict for row in rows} == {verdict}
    assert rows[-1].message_bytes is None
    assert rows[-1].ratio == pytest.approx(scale, rel=0.01)
    assert rows[-1].low <= scale * 1.01
    assert rows[-1].high >= scale * 0.99
    assert len(rows) == 2 * len(SIZES) + 1


def test_too_much_noise_for_a_verdict_is_unclear_and_says_what_the_interval_holds() -> None:
    rows = compare_runs(run(noise=0.8, samples=3, seed=1), run(1.1, noise=0.8, samples=3, seed=2))
    unclear = [row for row in rows if row.verdict == "unclear"]
    assert unclear
    assert "the interval holds both" in unclear[0].reason


def test_runs_in_different_placement_states_are_unclear_even_if_they_differ() -> None:
    rows = compare_runs(placed(run(seed=1), 120e-9), placed(run(1.5, seed=2), 450e-9))
    assert {row.verdict for row in rows} == {"unclear"}
    assert "bare flag took 120 ns in A and 450 ns in B" in rows[0].reason


def test_runs_in_the_same_placement_state_are_compared() -> None:
    rows = compare_runs(placed(run(seed=1), 120e-9), placed(run(1.5, seed=2), 125e-9))
    assert {row.verdict for row in rows} == {"slower"}


def row(verdict: str, ratio: float = 1.0, size: int | None = 1) -> RunRow:
    return RunRow(Compared("prtt", "send"), size, ratio, ratio, ratio, verdict, "Why.")


def test_a_verdict_of_the_whole_that_no_row_carries_is_said_to_be_that_of_all_together() -> None:
    whole = judge_whole(row("slower", 1.06, None), [row("unclear"), row("unclear", size=2)])
    assert whole.verdict == "slower"
    assert whole.reason == (
        "Why. Of 2 rows: 2 unclear. No row alone is slower: only all rows together are."
    )
    carried = judge_whole(row("slower", 1.06, None), [row("slower"), row("unclear", size=2)])
    assert carried.reason == "Why. Of 2 rows: 1 slower, 1 unclear."


def test_the_whole_is_unclear_where_rows_only_differ_the_other_way() -> None:
    whole = judge_whole(row("slower", 1.06, None), [row("faster"), row("unclear", size=2)])
    assert whole.verdict == "unclear"
    assert "the other way" in whole.reason


def busy(dataset: Dataset, programs: float) -> Dataset:
    warning = {"fact": OTHER_PROGRAMS, "number": programs}
    machine = {"machine": {"cores": 2}, "warnings": [warning], "clock": {"name": "tsc"}}
    return replace(dataset, header={**dataset.header, "target": "tcp", **machine})


def test_the_run_during_which_the_machine_was_busy_is_named() -> None:
    reason = compare_runs(run(seed=1), busy(run(1.5, seed=2), 4.0))[-1].reason
    assert "The machine was busy during run B (4 other programs ran on 2 CPUs)" in reason
    both = compare_runs(busy(run(seed=1), 3.0), busy(run(1.5, seed=2), 4.0))[-1].reason
    assert "busy during run A (3 other programs ran on 2 CPUs) and during run B (4 " in both
    assert "busy" not in compare_runs(run(seed=1), run(1.5, seed=2))[-1].reason


def test_the_verdict_over_all_sizes_is_the_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(compare_runs(run(seed=1), run(1.2, seed=2)), details=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Over all sizes, B is slower: +19.8 % (")
    assert any(line.startswith("prtt ") for line in lines[1:])


def referenced(dataset: Dataset, scale: float) -> Dataset:
    reference = Reference(350e-9 * scale, 112e-9 * scale, 70e-9 * scale)
    return replace(dataset, series=tuple(replace(s, reference=reference) for s in dataset.series))


def test_references_of_different_states_are_told_and_decide_nothing() -> None:
    before = referenced(run(seed=1), 1.0)
    told = compare_runs(before, referenced(run(1.2, seed=2), 1.3))
    assert {row.verdict for row in told} == {"slower"}
    assert told[-1].reason.endswith("350 ns, 112 ns, 70 ns in A and 455 ns, 146 ns, 91 ns in B.")
    alike = compare_runs(before, referenced(run(1.2, seed=2), 1.03))
    assert "reference" not in alike[-1].reason


def test_only_a_verdict_over_the_threshold_fails() -> None:
    rows = compare_runs(run(seed=1), run(1.2, seed=2))
    assert len(over_threshold(rows, parse_threshold("slower:10%"))) == len(rows)
    assert not over_threshold(rows, parse_threshold("slower:50%"))
    assert not over_threshold(rows, parse_threshold("faster:1%"))


@pytest.mark.parametrize("text", ["slower", "slower:5", "worse:5%", "slower:-5%", ""])
def test_a_threshold_that_is_not_understood_names_what_is_accepted(text: str) -> None:
    with pytest.raises(UsageError, match=r"--fail-on: .* slower:5%"):
        parse_threshold(text)


def test_runs_with_nothing_in_common_are_refused() -> None:
    other = replace(run(), series=tuple(replace(s, pattern="flood") for s in run().series))
    with pytest.raises(UsageError, match="in common"):
        compare_runs(run(), other)


def test_a_ratio_whose_interval_excludes_one_by_less_than_the_tolerance_is_the_same() -> None:
    assert judge(1.02, 1.01, 1.03, 0.05)[0] == "same"
    assert judge(1.04, 1.01, 1.07, 0.05)[0] == "unclear"


def test_the_json_has_the_rows_that_scripts_rely_on() -> None:
    document = comparison_to_json(compare_runs(run(seed=1), run(seed=2)))
    assert document["schema"] == "chiplog.comparison/1"
    rows = document["rows"]
    assert isinstance(rows, list)
    assert {"pattern", "message_bytes", "ratio", "low", "high", "verdict", "reason"} <= set(rows[0])


def test_what_was_measured_in_another_way_is_another_row() -> None:
    def both_ways(seed: int, scale: float) -> Dataset:
        usual, listed = run(seed=seed), run(scale, seed=seed + 10)
        series = tuple(replace(one, posting="list") for one in listed.series)
        return replace(usual, series=usual.series + series)

    rows = compare_runs(both_ways(1, 1.0), both_ways(2, 1.0))
    assert {row.what.posting for row in rows[:-1]} == {"normal", "list"}
    rows = compare_runs(both_ways(1, 1.0), both_ways(2, 1.5))
    assert {(row.what.posting, row.verdict) for row in rows[:-1]} == {
        ("normal", "same"),
        ("list", "slower"),
    }


def test_placements_are_kept_apart_where_a_run_has_several() -> None:
    def bound(seed: int, *placements: str) -> Dataset:
        usual = run(seed=seed)
        series = tuple(replace(one, placement=name) for name in placements for one in usual.series)
        return replace(usual, series=series)

    rows = compare_runs(bound(1, "filled", "round-robin"), bound(2, "filled", "round-robin"))
    assert {row.what.placement for row in rows[:-1]} == {"filled", "round-robin"}
    assert rows[0].what.label == "prtt, filled"
    rows = compare_runs(bound(1, "filled"), bound(2, "filled"))
    assert {row.what.placement for row in rows} == {""}


def of_many_visits(seed: int, factors: Sequence[float], *, wide: float = 0.01) -> Dataset:
    """A run whose v-th visit of all sizes took `factors[v]` as long; of the largest size with the noise `wide`."""
    parts = [
        replace(
            one, visit=visit, record_id=100 * visit + one.record_id, seconds=factor * one.seconds
        )
        for visit, factor in enumerate(factors)
        for sizes, noise in ((SIZES[:-1], 0.01), (SIZES[-1:], wide))
        for one in synthetic_dataset(
            [Piece(None, TRUTH)],
            sizes,
            asks=(Ask("prtt"),),
            samples=9,
            disturbance=SyntheticDisturbance(noise=noise),
            seed=1000 * seed + visit,
        ).series
    ]
    return Dataset({**run().header, "target": "sim"}, tuple(parts), True, "memory")


def test_a_machine_that_drifts_as_slowly_as_the_run_is_long_is_unclear_and_asks_for_longer_runs() -> (
    None
):
    drifts = np.exp(np.linspace(0.0, 0.15, 16))
    rows = compare_runs(of_many_visits(1, drifts), of_many_visits(2, 1.2 * drifts))
    assert {row.verdict for row in rows} == {"unclear"}
    assert "drift as slowly as a run is long" in rows[-1].reason
    steady = np.ones(16)
    rows = compare_runs(of_many_visits(1, steady), of_many_visits(2, 1.2 * steady))
    assert {row.verdict for row in rows} == {"slower"}


def test_a_row_of_wide_noise_hardly_moves_the_whole() -> None:
    steady = np.ones(8)
    wholes = [
        compare_runs(
            of_many_visits(2 * pair, steady, wide=2.0),
            of_many_visits(2 * pair + 1, steady, wide=2.0),
        )[-1]
        for pair in range(10)
    ]
    assert max(abs(np.log(one.ratio)) for one in wholes) < 0.02
    assert {one.verdict for one in wholes} == {"same"}
