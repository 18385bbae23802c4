"""A report is made from whatever there is: nothing fitted, one point, broken headers, hostile names."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from rendered import render_html, render_markdown
from rich.console import Console
from sample_report import MPI, SHM, sample_report, sample_target, without_fits

from chiplog.dataset.series import Dataset
from chiplog.fitting.result import Curve, FitError, Parameter, Segment
from chiplog.protocol_changes.change import Change
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.terminal import print_report, shared_out

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&`|*_\x1b[31m\x00\u2028"
EMPTY = Dataset({}, (), True, "")
GOOD = sample_target("mpi", MPI, samples=4)
NO_ERROR = FitError(0, math.nan, math.nan, math.nan, math.nan)


def terminal(report: ReportInput, *, width: int = 100, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    print_report(report, Console(file=file, width=width, color_system=None))
    return raw.getvalue().decode(encoding)


def report_of(*targets: TargetReport) -> ReportInput:
    return ReportInput("A report", targets, "2026-01-05T10:20:30Z")


def with_parameters(target: TargetReport, change: Callable[[Parameter], Parameter]) -> TargetReport:
    fits = []
    for fit in target.fits:
        segments = tuple(
            Segment(s.first_bytes, s.last_bytes, {k: change(p) for k, p in s.parameters.items()})
            for s in fit.segments
        )
        fits.append(replace(fit, segments=segments))
    return replace(target, fits=tuple(fits))


def unidentified(parameter: Parameter) -> Parameter:
    return Parameter(parameter.symbol, None, None, None, parameter.unit, False, "nobody knows.")


def huge(parameter: Parameter) -> Parameter:
    return replace(parameter, value=1e300, low=-1e300, high=math.inf)


def hostile_target() -> TargetReport:
    header = json.loads(json.dumps(dict(GOOD.dataset.header)))
    header["hosts"] = [HOSTILE, HOSTILE]
    header["machine"]["cpu_model"] = HOSTILE
    header["mpi"] = {"library": HOSTILE, "standard": HOSTILE, "settings": {HOSTILE: HOSTILE}}
    header["warnings"] = [{"fact": HOSTILE, "number": 1, "unit": HOSTILE, "remedy": HOSTILE}]
    fits = (replace(GOOD.fits[0], model=HOSTILE, method=HOSTILE, warnings=(HOSTILE,)), *GOOD.fits)
    return replace(
        GOOD,
        name=HOSTILE,
        dataset=replace(GOOD.dataset, header=header, source=HOSTILE),
        fits=fits,
        raw_files=(HOSTILE,),
        failure=HOSTILE,
        consensus=(replace(GOOD.consensus[0], kind=HOSTILE, seen_in=(HOSTILE,)),),
    )


def one_point() -> TargetReport:
    first = GOOD.dataset.series[0]
    data = replace(GOOD.dataset, series=(first,))

    def cut(curve: Curve) -> Curve:
        return Curve(
            curve.quantity,
            curve.message_bytes[:1],
            curve.measured_seconds[:1],
            curve.low_seconds[:1],
            curve.high_seconds[:1],
            curve.predicted_seconds[:1],
        )

    fits = tuple(replace(f, curves=tuple(map(cut, f.curves))) for f in GOOD.fits)
    return replace(GOOD, dataset=data, fits=fits)


def zero_times() -> TargetReport:
    series = tuple(replace(s, seconds=np.zeros_like(s.seconds)) for s in GOOD.dataset.series[:6])
    curves = tuple(
        replace(c, measured_seconds=c.measured_seconds * 0, message_bytes=c.message_bytes - 1)
        for c in GOOD.fits[0].curves
    )
    return replace(
        GOOD,
        dataset=replace(GOOD.dataset, series=series),
        fits=(replace(GOOD.fits[0], curves=curves),),
    )


def strange_header() -> TargetReport:
    header = {
        "mpi": "a word",
        "machine": None,
        "clock": [1, 2],
        "binding": [None, 3, [], [1, 2]],
        "warnings": ["no object", {}, {"fact": None, "number": "x"}],
        "hosts": "not a list",
        "seed": None,
        "options": 7,
    }
    return replace(GOOD, dataset=replace(GOOD.dataset, header=header))


def no_segments() -> TargetReport:
    fits = tuple(replace(f, segments=(), curves=(), error=NO_ERROR) for f in GOOD.fits)
    return replace(GOOD, fits=fits, comparison=(), consensus=())


CASES: dict[str, ReportInput] = {
    "three targets": sample_report(samples=4),
    "no target": report_of(),
    "an empty dataset": report_of(TargetReport("shm", EMPTY)),
    "a failure": report_of(TargetReport("mpi", EMPTY, failure="no MPI was found.")),
    "no fits": report_of(without_fits(GOOD)),
    "no segments": report_of(no_segments()),
    "one segment": report_of(sample_target("shm", SHM, samples=4)),
    "nothing identified": report_of(with_parameters(GOOD, unidentified)),
    "huge values": report_of(with_parameters(GOOD, huge)),
    "one point": report_of(one_point()),
    "times of zero": report_of(zero_times()),
    "a strange header": report_of(strange_header()),
    "hostile names": report_of(hostile_target(), hostile_target()),
    "an incomplete run": report_of(replace(GOOD, dataset=replace(GOOD.dataset, complete=False))),
    "no samples": report_of(
        replace(
            GOOD,
            dataset=replace(
                GOOD.dataset,
                series=tuple(replace(s, seconds=np.array([])) for s in GOOD.dataset.series),
            ),
        )
    ),
    "a change nobody measured": report_of(replace(GOOD, consensus=(Change(0, 2**40, "slope"),))),
}


class Page(HTMLParser):
    """Collects what a page holds, and checks that its elements nest."""

    VOID = frozenset({"meta", "link", "wbr", "br", "img", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.data: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.data[self.open[-1]] = self.data.get(self.open[-1], "") + data

    def values(self, attribute: str) -> list[str]:
        return [v for _, attrs in self.elements if (v := attrs.get(attribute)) is not None]


@pytest.mark.parametrize("case", CASES)
def test_a_page_is_well_formed_whatever_it_is_made_from(case: str) -> None:
    page = Page(render_html(CASES[case]))
    assert page.open == []
    identifiers = page.values("id")
    assert len(identifiers) == len(set(identifiers))
    for link in page.values("href"):
        assert link == "data:," or link.removeprefix("#") in identifiers


@pytest.mark.parametrize("case", CASES)
def test_a_page_has_two_scripts_and_refers_to_nothing_outside(case: str) -> None:
    text = render_html(CASES[case])
    page = Page(text)
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert not {tag for tag, _ in page.elements} & {"img", "iframe", "object", "embed", "base"}
    assert page.values("src") == []
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert "@import" not in text
    assert "url(" not in text.replace("`url(#${clip})`", "")


@pytest.mark.parametrize("case", CASES)
def test_a_pages_plots_are_finite_json(case: str) -> None:
    found = re.search(
        r'<script type="application/json" id="plots">(.*?)</script>', render_html(CASES[case])
    )
    assert found is not None
    plots = json.loads(found[1], parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    for plot in plots.values():
        for trace in plot["traces"]:
            assert len(trace["x"]) == len(trace["y"])


@pytest.mark.parametrize("case", CASES)
def test_markdown_is_made_whatever_it_is_made_from(case: str) -> None:
    text = render_markdown(CASES[case])
    assert text.startswith("# ")
    assert "nan" not in text.lower().replace("nanosecond", "")
    for block in text.split("\n\n"):
        rows = [row for row in block.split("\n") if row.startswith("|")]
        columns = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert len(columns) <= 1, block


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("width", [30, 80, 200])
def test_no_line_is_wider_than_the_terminal(case: str, width: int) -> None:
    lines = terminal(CASES[case], width=width).split("\n")
    assert max(len(row) for row in lines) <= width


@pytest.mark.parametrize("width", [40, 60, 80, 100, 130])
@pytest.mark.parametrize("case", ["three targets", "nothing identified", "one segment"])
def test_a_narrow_terminal_loses_and_breaks_no_word(case: str, width: int) -> None:
    wide = {word.rstrip(":") for word in terminal(CASES[case], width=400).split()}
    narrow = {word.rstrip(":") for word in terminal(CASES[case], width=width).split()}
    lost = {word for word in wide - narrow if "─" not in word}
    assert lost == set()


@pytest.mark.parametrize(
    ("least", "most", "room", "expected"),
    [
        ([3, 3], [3, 3], 10, [3, 3]),
        ([3, 3], [9, 9], 10, [5, 5]),
        ([3, 3], [4, 40], 20, [4, 16]),
        ([3, 3], [9, 9], 5, None),
    ],
)
def test_columns_share_the_room_that_there_is(
    least: list[int], most: list[int], room: int, expected: list[int] | None
) -> None:
    assert shared_out(least, most, room) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_terminal_without_unicode_gets_ascii(case: str) -> None:
    text = terminal(CASES[case], encoding="ascii")
    assert "?" not in text or case == "hostile names"


def test_hostile_names_cannot_move_the_cursor() -> None:
    assert "\x1b" not in terminal(CASES["hostile names"])


def test_hostile_names_are_text_in_the_page() -> None:
    text = render_html(CASES["hostile names"])
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "&lt;/script&gt;" in text


def test_only_the_pages_own_script_may_run() -> None:
    text = render_html(CASES["hostile names"])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'", policy[1])


def test_a_default_run_stays_under_two_megabytes() -> None:
    assert len(render_html(sample_report(samples=100)).encode()) < 2_000_000


def test_raw_samples_do_not_make_the_page_larger() -> None:
    few = len(render_html(sample_report(samples=10)))
    assert len(render_html(sample_report(samples=200))) < 1.1 * few
