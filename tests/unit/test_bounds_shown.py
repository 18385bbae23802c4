"""Where data bound a parameter, the bound is printed: it is neither an error nor unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_report import sample_report

from chiplog.cli.fit_text import fits_text
from chiplog.fitting.result import Fit, Parameter
from chiplog.report.copies import latex_table
from chiplog.report.document import Style, text_of
from chiplog.report.input import TargetReport
from chiplog.report.parameter_text import bandwidth_of, bounds, full, short
from chiplog.report.summary import COLUMNS, summary_lines

HIDDEN = Parameter("g", None, 0.0, 0.145e-6, "s", False, "the overhead hides the gap.")
UNKNOWN = Parameter("g", None, 0.0, None, "s", False, "nothing was measured.")
LEAST = Parameter("R", None, 5e9, None, "B/s", False, "not reached.")
BETWEEN = Parameter("L", None, 1e-6, 2e-6, "s", False, "o_r is not identified.")


def with_gap(fit: Fit, gap: Parameter) -> Fit:
    segments = tuple(
        replace(one, parameters={**one.parameters, "g": gap}) if "g" in one.parameters else one
        for one in fit.segments
    )
    return replace(fit, segments=segments)


def target_with_gap(gap: Parameter) -> TargetReport:
    target = sample_report().targets[0]
    return replace(target, fits=tuple(with_gap(one, gap) for one in target.fits))


@pytest.mark.parametrize(
    ("parameter", "text"),
    [(HIDDEN, "< 145 ns"), (LEAST, "> 5.00 GB/s"), (BETWEEN, "1.00 us to 2.00 us"), (UNKNOWN, "")],
)
def test_bounds_read_as_what_they_are(parameter: Parameter, text: str) -> None:
    assert bounds(parameter) == text
    assert text_of(short(parameter)) == (text or "not identified")
    styles = {span.style for span in (*short(parameter), *full(parameter))}
    assert (Style.BAD in styles) == (not text)


def test_the_cost_of_a_byte_bounds_the_bandwidth_from_below() -> None:
    most = Parameter("G", None, 0.0, 0.5e-9, "s/B", False, "hidden.")
    assert text_of(bandwidth_of(most)) == "> 2.00 GB/s"


def test_the_first_screen_has_the_bound_and_says_once_why() -> None:
    report = sample_report()
    targets = (target_with_gap(HIDDEN), target_with_gap(HIDDEN))
    lines = summary_lines(replace(report, targets=targets))
    text = "\n".join(lines)
    assert text.count("<0.145") == 2
    assert text.count("the CPU takes longer than the network") == 1
    assert max(map(len, lines)) <= COLUMNS


def test_what_nothing_bounds_is_a_question_mark_on_the_first_screen() -> None:
    lines = summary_lines(replace(sample_report(), targets=(target_with_gap(UNKNOWN),)))
    assert not any("<" in line for line in lines)
    assert any(" ? " in line for line in lines)


def test_fits_and_copies_for_papers_have_the_bound() -> None:
    fit = next(one for one in target_with_gap(HIDDEN).fits if one.model == "loggp")
    assert len(fit.segments) == 1
    assert "< 145 ns  not identified" in fits_text([fit])
    twice = replace(fit, segments=(fit.segments[0], replace(fit.segments[0], border="slope")))
    assert "<0.145" in fits_text([twice])
    assert "$<0.145$" in latex_table(fit)
