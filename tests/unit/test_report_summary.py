"""What `chiplog run` prints: one screen, whatever there is to say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sample_report import sample_report

from chiplog.fitting.result import Curve, Parameter
from chiplog.protocol_changes.change import Change
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.measured import half_round_trip_at
from chiplog.report.summary import COLUMNS, _parameter, summary_lines

LINES = 26
"""So that with the four lines about files the whole of it is at most 30."""


def report_of(*targets: TargetReport) -> ReportInput:
    return replace(sample_report(), targets=targets)


def target() -> TargetReport:
    return sample_report().targets[0]


def test_three_targets_take_one_screen_with_long_names_and_many_warnings() -> None:
    long_fact = "the host does something that takes many words to say, " * 8
    header = {
        **target().dataset.header,
        "warnings": [
            {"fact": f"{number}: {long_fact}", "number": 1.0, "unit": "%", "remedy": "wait"}
            for number in range(9)
        ],
    }
    one = replace(
        target(),
        name="tcp:bind=10.0.0.0/24,port=7",
        dataset=replace(target().dataset, header=header),
    )
    lines = summary_lines(report_of(one, one, one))
    assert len(lines) <= LINES, "\n".join(lines)
    assert max(map(len, lines)) <= COLUMNS
    assert lines[-1].endswith("warnings: --details")


def without_sizes(curve: Curve, *sizes: int) -> Curve:
    """The curve as if the sizes had not been measured."""
    kept = ~np.isin(curve.message_bytes, sizes)
    arrays = (
        "message_bytes",
        "measured_seconds",
        "low_seconds",
        "high_seconds",
        "predicted_seconds",
    )
    return replace(curve, **{name: getattr(curve, name)[kept] for name in arrays})


def test_the_first_table_says_what_the_plot_shows_where_the_machine_had_two_states() -> None:
    dataset = target().dataset
    slower = tuple(
        replace(series, seconds=4.0 * series.seconds) if number % 3 else series
        for number, series in enumerate(dataset.series)
    )
    shown = replace(target(), dataset=replace(dataset, series=slower))
    assert half_round_trip_at(shown, 8) == half_round_trip_at(target(), 8)
    assert half_round_trip_at(replace(shown, fits=()), 8) != half_round_trip_at(target(), 8)


def test_it_is_one_screen_where_sizes_are_missing_and_many_protocols_change_too() -> None:
    warned = [
        {"fact": f"{number}: {'many words ' * 30}", "number": 1.0, "unit": "%", "remedy": "wait"}
        for number in range(9)
    ]
    dataset = target().dataset
    series = tuple(one for one in dataset.series if one.message_bytes not in (8, 1 << 22))
    changes = tuple(Change(1000 * limit, 1000 * limit + 1, "jump") for limit in range(1, 30))
    fits = tuple(
        replace(fit, curves=tuple(without_sizes(curve, 8, 1 << 22) for curve in fit.curves))
        for fit in target().fits
    )
    one = replace(
        target(),
        name="tcp:bind=10.0.0.0/24,port=7",
        fits=fits,
        consensus=changes,
        dataset=replace(dataset, series=series, header={**dataset.header, "warnings": warned}),
    )
    lines = summary_lines(report_of(one, one, one))
    assert any("nearest size" in line for line in lines)
    assert len(lines) <= LINES, "\n".join(lines)
    assert lines[-1].endswith("warnings: --details")
    assert any("more: --details" in line and "warning" not in line for line in lines)
    assert not any(line.endswith("...") for line in lines)


@pytest.mark.parametrize(
    ("above", "below"), [("half RTT", "8 B, us"), ("at", "4 MiB"), ("1/G", "GB/s"), ("held", "out")]
)
def test_both_lines_of_the_tables_head_end_their_columns_at_the_same_place(
    above: str, below: str
) -> None:
    lines = summary_lines(report_of(target()))
    (place,) = (number for number, line in enumerate(lines) if line.startswith("target"))
    first, second = lines[place - 1 : place + 1]
    assert first.index(above) + len(above) == second.index(below) + len(below)


def test_a_limit_is_named_by_the_setting_that_it_is_of() -> None:
    settings = {"btl_sm_eager_limit": "4096", "btl_sm_max_inline_send": "256", "text": "x"}
    header = {**target().dataset.header, "mpi": {"settings": settings}}
    changes = tuple(Change(limit, limit + 1, "jump") for limit in (256, 4016, 70000))
    one = replace(target(), consensus=changes, dataset=replace(target().dataset, header=header))
    text = " ".join(" ".join(summary_lines(report_of(one))).split())
    assert "256 B (btl_sm_max_inline_send)" in text
    assert "4,016 B (btl_sm_eager_limit less 80 B)" in text
    assert "70,000 B;" in text or "70,000 B " in text


def test_a_target_that_failed_or_has_no_fit_says_so_and_loses_no_other() -> None:
    failed = replace(target(), name="mpi", fits=(), failure="no MPI was found.")
    unfitted = replace(target(), name="udp", fits=())
    text = " ".join(" ".join(summary_lines(report_of(target(), failed, unfitted))).split())
    assert "mpi: not usable, because it failed: no MPI was found." in text
    assert "udp: not usable, because no model was fitted." in text
    assert f"{target().name}: usable for times within" in text


def test_without_targets_it_says_that() -> None:
    assert summary_lines(report_of()) == ["No target was measured."]


def test_no_warning_is_cut_and_at_most_three_are_shown() -> None:
    facts = [f"fact number {number} that takes a few words" for number in range(6)]
    remedy = "do this, then that, and measure again when nothing else runs on the machine"
    header = {
        **target().dataset.header,
        "warnings": [
            {"fact": fact, "number": 1.0, "unit": "%", "remedy": remedy} for fact in facts
        ],
    }
    warned = replace(target(), dataset=replace(target().dataset, header=header))
    lines = summary_lines(report_of(warned))
    text = " ".join(" ".join(lines).split())
    assert text.count(remedy) == 3
    assert all(fact in text for fact in facts[:3])
    assert "..." not in text
    assert lines[-1] == "! 3 more warnings: --details"


def test_what_several_targets_warn_of_is_said_once() -> None:
    def busy(share: float) -> TargetReport:
        warned = [{"fact": "other programs are running", "number": share, "unit": "processes"}]
        dataset = target().dataset
        return replace(
            target(), dataset=replace(dataset, header={**dataset.header, "warnings": warned})
        )

    lines = summary_lines(report_of(busy(1.29), busy(1.56)))
    assert sum("other programs are running" in line for line in lines) == 1


def test_what_the_fits_say_is_no_warning() -> None:
    fits = tuple(replace(fit, warnings=("Some sizes are left out.",)) for fit in target().fits)
    text = "\n".join(summary_lines(report_of(replace(target(), fits=fits))))
    assert "left out" not in text


@pytest.mark.parametrize("power", range(-15, 2))
def test_a_parameter_never_touches_the_one_beside_it(power: int) -> None:
    """From a femtosecond to ten seconds, known or bounded, a cell leaves a blank in its column of 8."""
    seconds = 1.234 * 10.0**power
    reason = "its effect is too small."
    for low, high in ((None, seconds), (seconds, None), (0.0, seconds)):
        bounded = Parameter("o_s", None, low, high, "s", False, reason)
        assert len(_parameter({"o_s": bounded}, "o_s")) < 8
    known = Parameter("o_s", seconds, seconds, seconds, "s", True)
    assert len(_parameter({"o_s": known}, "o_s")) < 8
