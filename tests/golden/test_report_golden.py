"""Reports as a whole, kept as files: a change of any word or digit is seen, and bad fits are shown as bad.

After a wanted change: CHIPLOG_UPDATE_GOLDEN=1 pytest tests/golden/test_report_golden.py, and read the difference.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rendered import render_markdown
from rich.console import Console
from sample_report import MPI, SHM, TCP, sample_target

from chiplog.dataset.series import Dataset
from chiplog.fitting.result import Cost, FitError, Parameter
from chiplog.protocol_changes.change import Change
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.terminal import print_report

FILES = Path(__file__).parent / "report"


def of_targets(title: str, *targets: TargetReport) -> ReportInput:
    return ReportInput(
        title,
        targets,
        "2026-01-05T10:20:30Z",
        ("chiplog", "run", "-o", "a report"),
        Cost(412_806, 1_234_567_890, 47.3),
        (("chiplog", "0.1.0"),),
    )


def good() -> ReportInput:
    """Two protocols that the models describe, one overhead that hides the gap."""
    return of_targets(
        "Two transports",
        sample_target("tcp", TCP, samples=4, noise=0.0),
        sample_target("mpi", MPI, samples=4, noise=0.0),
    )


def bad() -> ReportInput:
    """Fits that fail in each way that there is."""
    shm = sample_target("shm", SHM, samples=4, noise=0.0)
    awful = FitError(120, 0.71, 0.38, 4.2, 2.9)
    nothing = FitError(0, *[float("nan")] * 4)
    at_bound = Parameter("G", 0.0, 0.0, 0.4e-9, "s/B", True, "at its lower bound.")
    vague = Parameter("L", 95e-9, 1e-9, 3e-6, "s", True)
    unknown = Parameter("o_s", None, None, None, "s", False, "no delayed trains were measured.")
    bare = Parameter("g", None, None, None, "s", False)
    odd = {"G": at_bound, "L": vague, "o_s": unknown, "g": bare}
    fits = []
    for fit in shm.fits:
        segments = tuple(
            replace(s, parameters={k: odd.get(k, p) for k, p in s.parameters.items()})
            for s in fit.segments
        )
        curves = tuple(replace(c, predicted_seconds=2.9 * c.measured_seconds) for c in fit.curves)
        warnings = ("It did not converge.",)
        fits.append(replace(fit, segments=segments, curves=curves, error=awful, warnings=warnings))
    fits[0] = replace(fits[0], segments=(), curves=(), error=nothing)
    off = replace(
        shm,
        fits=tuple(fits),
        comparison=(),
        consensus=(Change(8192, 16384, "slope"),),
        dataset=replace(shm.dataset, complete=False),
    )
    no_samples = Dataset({}, (), True, "")
    unreadable = TargetReport("mpi", no_samples, failure="no MPI was found (mpicxx is missing).")
    unfitted = TargetReport("udp", replace(shm.dataset, series=shm.dataset.series[:3]))
    return of_targets("What went wrong", off, unreadable, unfitted)


def in_terminal(report: ReportInput, width: int) -> str:
    file = io.StringIO()
    print_report(report, Console(file=file, width=width, color_system=None))
    return "\n".join(row.rstrip() for row in file.getvalue().split("\n"))


CASES: dict[str, Callable[[], str]] = {
    "good.md": lambda: render_markdown(good()),
    "bad.md": lambda: render_markdown(bad()),
    "good-100-columns.txt": lambda: in_terminal(good(), 100),
    "bad-100-columns.txt": lambda: in_terminal(bad(), 100),
    "good-40-columns.txt": lambda: in_terminal(good(), 40),
}


@pytest.mark.parametrize("name", CASES)
def test_the_report_reads_as_it_did(name: str) -> None:
    text, path = CASES[name](), FILES / name
    if os.environ.get("CHIPLOG_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_what_is_bad_is_not_shown_as_good() -> None:
    text = render_markdown(bad())
    assert "does not describe this transport: it is off by 38 %" in text
    assert "not identified, because no delayed trains were measured" in text
    assert "The run is not complete" in text
    assert "no MPI was found" in text
    assert "No model was fitted" in text
    assert "It did not converge." in text
    assert "nan" not in text
