"""Two tables of one mean a size: what differs, by what range of sizes, and what can't be told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate
from synthetic_tables import curve_seconds, table_of

from chiplog.cli.compare import ComparedRuns, JudgingOptions, compare
from chiplog.comparison.result import RunRow, comparison_to_json
from chiplog.comparison.runs import compare_runs
from chiplog.comparison.threshold import check_threshold
from chiplog.dataset.import_file import import_file
from chiplog.dataset.series import Dataset
from chiplog.errors import PrecisionNotMet, ThresholdHit

OCTAVES = tuple(2**n for n in range(23))
GRIDS = {
    "octaves": OCTAVES,
    "sparse": tuple(8**n for n in range(8)),
    "dense": tuple(sorted({int(10 ** (n / 12)) for n in range(80)})),
}


def table(
    seed: int,
    sizes: Sequence[int] = OCTAVES,
    *,
    scatter: float = 0.018,
    factor: Callable[[int], float] = lambda size: 1.0,
) -> Dataset:
    draw = np.random.default_rng(seed)
    seconds = curve_seconds(sizes) * np.exp(scatter * draw.standard_normal(len(sizes)))
    return table_of(
        {size: factor(size) * value for size, value in zip(sizes, seconds, strict=True)}
    )


def verdicts(rows: Sequence[RunRow]) -> dict[int | None, str]:
    return {row.message_bytes: row.verdict for row in rows}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("grid", GRIDS)
def test_sizes_that_are_slower_by_half_are_a_range_with_an_interval(grid: str, seed: int) -> None:
    sizes = GRIDS[grid]
    begin = len(sizes) // 2
    slow = sizes[begin : begin + max(4, len(sizes) // 5)]
    before = table(2 * seed, sizes, scatter=0.01)
    after = table(2 * seed + 1, sizes, scatter=0.01, factor=lambda s: 1.5 if s in slow else 1.0)
    rows = compare_runs(before, after)
    assert {size for size, verdict in verdicts(rows).items() if verdict == "slower"} == {*slow}
    ranges = {row.range for row in rows if row.verdict == "slower" and row.range is not None}
    (sizes_alike,) = ranges
    assert (sizes_alike.first_bytes, sizes_alike.last_bytes) == (slow[0], slow[-1])
    assert 1.0 < sizes_alike.low < 1.5 < sizes_alike.high < 2.1
    validate(comparison_to_json(rows))


@pytest.mark.parametrize("factor", [5.0, 28.0, 1 / 5.0])
@pytest.mark.parametrize("scatter", [0.002, 0.018, 0.15])
@pytest.mark.parametrize("where", [range(23), range(9, 13), range(20, 23)])
def test_a_factor_of_five_is_never_unclear(factor: float, scatter: float, where: range) -> None:
    slow = {OCTAVES[place] for place in where}
    before = table(1, scatter=scatter)
    after = table(2, scatter=scatter, factor=lambda size: factor if size in slow else 1.0)
    rows = compare_runs(before, after)
    wanted = "slower" if factor > 1.0 else "faster"
    assert {row.verdict for row in rows if row.message_bytes in slow} == {wanted}
    others = {row.verdict for row in rows[:-1] if row.message_bytes not in slow}
    assert others <= {"unclear"}


@pytest.mark.parametrize("sizes", [(4096,), (1024, 4096), (256, 1024, 4096)])
def test_a_factor_of_five_is_told_from_a_few_sizes_and_of_one_alone(sizes: tuple[int, ...]) -> None:
    rows = compare_runs(table(1, sizes), table(2, sizes, factor=lambda size: 5.5))
    assert {row.verdict for row in rows} == {"slower"}
    rows = compare_runs(table(1), table(2, factor=lambda size: 5.5 if size == 256 else 1.0))
    assert {size for size, verdict in verdicts(rows).items() if verdict == "slower"} == {256}


def test_one_size_that_is_twice_as_slow_may_be_an_outlier_and_is_said_to() -> None:
    rows = compare_runs(table(1), table(2, factor=lambda size: 2.0 if size == 256 else 1.0))
    assert set(verdicts(rows).values()) == {"unclear"}
    (reason,) = {row.reason for row in rows if row.message_bytes == 256}
    assert "may be an outlier" in reason


SCATTERS: dict[str, Callable[[int], np.ndarray]] = {
    "1 %": lambda count: np.full(count, 0.01),
    "15 %": lambda count: np.full(count, 0.15),
    "15 % at small sizes, 2 % at large ones": lambda count: np.linspace(0.15, 0.02, count),
}


@pytest.mark.parametrize("scatter", SCATTERS)
@pytest.mark.parametrize("outliers", [0.0, 0.05])
@pytest.mark.parametrize("grid", ["octaves", "sparse"])
def test_two_tables_of_one_system_get_no_verdict(grid: str, outliers: float, scatter: str) -> None:
    """At most one of 50, with launches that differ by up to 10 % and single sizes off by up to a factor of 2."""
    sizes = GRIDS[grid]
    draw = np.random.default_rng(11)

    def drawn(offset: float) -> Dataset:
        noise = SCATTERS[scatter](len(sizes)) * draw.standard_normal(len(sizes))
        off = np.where(draw.random(len(sizes)) < outliers, draw.uniform(1.0, 2.0, len(sizes)), 1.0)
        seconds = offset * off * curve_seconds(sizes) * np.exp(noise)
        return table_of(dict(zip(sizes, seconds.tolist(), strict=True)))

    judged = [compare_runs(drawn(1.0), drawn(draw.uniform(0.9, 1.1))) for _ in range(50)]
    wrong = [rows for rows in judged if {"slower", "faster"} & {row.verdict for row in rows}]
    assert len(wrong) <= 1


def test_the_scatter_is_stated_and_advice_names_only_what_exists_for_tables() -> None:
    reason = compare_runs(table(1), table(2))[-1].reason
    assert "taken from the tables themselves" in reason
    assert "import several repetitions" in reason
    assert "--" not in reason


def test_operations_of_one_table_have_names_of_their_own() -> None:
    def both(seed: int, factor: float) -> Dataset:
        out = table(seed)
        in_place = table(seed + 1, factor=lambda size: factor)
        named = [
            replace(series, pattern="allreduce", operation=operation, direction="call")
            for run, operation in ((out, "out-of-place"), (in_place, "in-place"))
            for series in run.series
        ]
        return replace(out, series=tuple(named))

    rows = compare_runs(both(1, 1.0), both(3, 28.0))
    assert {(row.what.label, row.verdict) for row in rows[:-1]} == {
        ("allreduce, out-of-place", "unclear"),
        ("allreduce, in-place", "slower"),
    }


def test_a_gate_on_tables_is_hit_passed_or_not_judged() -> None:
    before = table(1)
    with pytest.raises(ThresholdHit, match="ping_pong from 1 to 4194304 B"):
        check_threshold(compare_runs(before, table(2, factor=lambda size: 5.0)), "slower:50%")
    check_threshold(compare_runs(before, table(2)), "slower:50%")
    with pytest.raises(PrecisionNotMet, match=r"can't be judged by these runs: for the whole"):
        check_threshold(compare_runs(before, table(2)), "slower:5%")
    half = compare_runs(before, table(2, factor=lambda s: 1.5 if 256 <= s <= 4096 else 1.0))
    with pytest.raises(PrecisionNotMet, match=r"from 256 to 4096 B"):
        check_threshold(half, "slower:50%")


def test_more_samples_never_make_a_verdict_weaker() -> None:
    """A range that two tables of means show is shown by visits and launches of the same machine, too."""

    def many(seed: int, factor: float, visits: int, launches: int) -> Dataset:
        parts = [
            replace(series, launch=launch, visit=visit, record_id=100 * number + series.record_id)
            for number, (launch, visit) in enumerate(np.ndindex(launches, visits))
            for series in table(
                100 * seed + number, factor=lambda s: factor if 256 <= s <= 4096 else 1.0
            ).series
        ]
        return replace(table(seed), header={"target": "tcp"}, series=tuple(parts))

    for visits, launches in ((1, 1), (2, 1), (4, 1), (2, 3)):
        rows = compare_runs(many(1, 1.0, visits, launches), many(2, 1.5, visits, launches))
        slower = {size for size, verdict in verdicts(rows).items() if verdict == "slower"}
        assert slower >= {256, 512, 1024, 2048, 4096}, (visits, launches)


def test_a_record_of_a_run_that_was_disturbed_a_thousandfold_is_no_change() -> None:
    """A single visit may be interrupted for a time slice; a mean of many iterations may not."""
    runs = [
        replace(run, header={"target": "shm"})
        for run in (table(1), table(2, factor=lambda size: 1000.0 if size == 256 else 1.0))
    ]
    rows = compare_runs(*runs)
    assert set(verdicts(rows).values()) == {"unclear"}
    (reason,) = {row.reason for row in rows if row.message_bytes == 256}
    assert "--visits 4" in reason
    validate(comparison_to_json(rows))


def test_a_file_of_another_tool_that_is_five_times_as_slow_ends_with_three(tmp_path: Path) -> None:
    runs = []
    for name, factor in (("a", 1.0), ("b", 5.1)):
        text = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n" + "".join(
            f"{size:<15}{factor * 1e6 * value:>12.2f}\n"
            for size, value in zip(OCTAVES, curve_seconds(OCTAVES).tolist(), strict=True)
        )
        (tmp_path / f"{name}.txt").write_text(text)
        runs.append(import_file("osu", tmp_path / f"{name}.txt", tmp_path / f"{name}.jsonl"))
    with pytest.raises(ThresholdHit):
        compare(ComparedRuns(*runs), judging=JudgingOptions(), fail_on="slower:50%")
    with pytest.raises(PrecisionNotMet):
        compare(ComparedRuns(runs[0], runs[0]), judging=JudgingOptions(), fail_on="slower:1%")
