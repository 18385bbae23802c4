"""Normal, inline and list beside each other: which is the fastest, and when that is unclear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from synthetic import SyntheticDisturbance
from synthetic_one_to_many import logfp_truth, one_to_many_dataset

from chiplog.comparison.postings import compare_postings
from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.fit import fit
from chiplog.report.document import Panels, Section, Table, text_of
from chiplog.report.input import TargetReport
from chiplog.report.sections import one_to_many

THETA = {"f": 4.0, "o_min": 0.2e-6, "o_max": 1.0e-6, "L": 5e-6, "g": 1e-6}


def posted(posting: str, factor: float, operation: str = "rdma-write") -> tuple[Series, ...]:
    """RTT(p) and post times for p = 1..8, all times `factor` times as long."""
    run = one_to_many_dataset(
        logfp_truth(THETA),
        range(1, 9),
        operation=operation,
        disturbance=SyntheticDisturbance(noise=0.02),
        seed=3,
    )
    return tuple(replace(one, posting=posting, seconds=one.seconds * factor) for one in run.series)


def both(*series: tuple[Series, ...]) -> Dataset:
    run = one_to_many_dataset(logfp_truth(THETA), [1])
    return replace(run, series=tuple(one for part in series for one in part))


def test_the_fastest_posting_is_named_where_its_interval_lies_below_the_others() -> None:
    points = compare_postings((*posted("normal", 1.0), *posted("inline", 0.8)))
    assert len(points) == 2 * 8
    assert {one.fastest for one in points} == {"inline"}
    assert [time.posting for time in points[0].times] == ["normal", "inline"]


def test_overlapping_intervals_are_unclear() -> None:
    points = compare_postings((*posted("normal", 1.0), *posted("list", 1.0)))
    assert {one.fastest for one in points} == {"unclear"}


def test_too_few_samples_have_no_interval_and_tell_nothing() -> None:
    few = tuple(replace(one, seconds=one.seconds[:1]) for one in posted("inline", 0.1))
    points = compare_postings((*posted("normal", 1.0), *few))
    assert {one.fastest for one in points} == {"unclear"}


def test_times_are_per_message_with_minimum_median_and_mean() -> None:
    (eight,) = [
        one
        for one in compare_postings(posted("normal", 1.0))
        if (one.pattern, one.peers) == ("one_to_many", 8)
    ]
    (time,) = eight.times
    samples = np.concatenate(
        [s.seconds for s in posted("normal", 1.0) if (s.pattern, s.peers) == ("one_to_many", 8)]
    )
    assert time.minimum == samples.min() / 8
    assert np.isclose(time.median, np.median(samples) / 8)
    assert np.isclose(time.mean, np.mean(samples) / 8)
    assert time.low <= time.median <= time.high


def report_of(*series: tuple[Series, ...]) -> TargetReport:
    run = both(*series)
    return TargetReport("shm", run, fit(run, ["logp"]), postings=compare_postings(run.series))


def tables(section: Section) -> list[str]:
    return [text_of(block.caption) for block in section.blocks if isinstance(block, Table)]


def test_the_report_has_each_posting_in_a_plot_a_table_and_a_part_of_its_own() -> None:
    run = report_of(posted("normal", 1.0), posted("inline", 0.8))
    section = one_to_many.section(run, "shm")
    assert section is not None
    assert [text_of(part.title) for part in section.sections] == [
        "rdma-write",
        "rdma-write, inline",
    ]
    (panels,) = [block for block in section.blocks if isinstance(block, Panels)]
    names = {trace.name for figure in panels.figures for trace in figure.plot.traces}  # type: ignore[union-attr]
    assert {"normal", "inline", "inline, minimum", "inline, mean"} <= names
    assert [caption.split(":")[0] for caption in tables(section)] == ["rdma-write, 8 B"] * 2
    table = next(block for block in section.blocks if isinstance(block, Table))
    assert {text_of(row[-1]) for row in table.rows} == {"inline"}


def test_one_way_of_posting_needs_no_comparison() -> None:
    section = one_to_many.section(report_of(posted("normal", 1.0)), "shm")
    assert section is not None
    assert not section.sections
