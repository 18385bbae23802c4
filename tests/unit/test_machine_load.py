"""Was the machine busy while a run was measured? Told from its header and from its samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from sample_report import sample_report
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit
from chiplog.fitting.verdict import busy_text, rejection
from chiplog.machine_state.load import MachineLoad, machine_load
from chiplog.models.piecewise import Piece
from chiplog.report.sections import build
from chiplog.report.summary import summary_lines
from chiplog.report.trust import trust_of

TRUTH = Piece(None, {"L": 2e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 1.5e-6, "G": 1e-9})


def header(programs: float | None, cores: int = 2) -> Mapping[str, object]:
    warned = {
        "fact": "other programs are running",
        "number": programs,
        "unit": "runnable processes",
        "remedy": "wait until the host is idle",
    }
    return {
        "target": "tcp",
        "transport": "tcp",
        "ranks": 2,
        "hosts": ["n1", "n1"],
        "machine": {"cores": cores},
        "warnings": [] if programs is None else [warned],
    }


def run(programs: float | None, *, cores: int = 2, interrupted: float = 0.0) -> Dataset:
    """A quiet run; of a machine that interrupts, a share of the samples takes a time slice of 3 ms longer."""
    made = synthetic_dataset(
        [TRUTH], size_grid(1 << 16, 1), disturbance=SyntheticDisturbance(noise=0.01)
    )
    rng = np.random.default_rng(7)
    series = tuple(
        replace(one, seconds=one.seconds + 3e-3 * (rng.random(one.seconds.size) < interrupted))
        for one in made.series
    )
    return Dataset(header(programs, cores), series, True, "run.jsonl")


def test_programs_beyond_the_cpus_without_a_rank_make_a_machine_busy() -> None:
    assert busy_text(machine_load(run(16.0))) == "16 other programs ran on 2 CPUs"
    assert busy_text(machine_load(run(1.2))) is not None
    assert busy_text(machine_load(run(5.0, cores=64))) is None
    assert busy_text(machine_load(run(None))) is None


def test_interrupted_samples_tell_of_programs_that_began_after_the_header_was_written() -> None:
    busy = busy_text(machine_load(run(None, interrupted=0.2)))
    assert busy is not None
    assert busy.startswith("interruptions took")


def test_files_that_do_not_name_the_machine_or_are_in_virtual_time_tell_nothing() -> None:
    busy = run(16.0, interrupted=0.3)
    imported = {name: one for name, one in busy.header.items() if name != "machine"}
    assert machine_load(replace(busy, header=imported)) is None
    virtual = {**busy.header, "clock": {"name": "virtual"}}
    assert machine_load(replace(busy, header=virtual)) is None


@pytest.mark.parametrize(
    ("load", "takes"),
    [
        (MachineLoad(3.0, 8, 2, 0.0), False),
        (MachineLoad(7.0, 8, 2, 0.0), True),
        (MachineLoad(0.8, None, None, 0.0), True),
        (MachineLoad(None, 2, 2, 0.0), False),
    ],
)
def test_ranks_lose_cpus_where_programs_outnumber_the_spare_ones(
    load: MachineLoad, takes: bool
) -> None:
    assert load.takes_cpus_from_ranks is takes


def test_a_fit_that_stands_is_not_rejected_for_the_load_alone() -> None:
    (found,) = fit(run(16.0), ("loggp",))
    assert found.busy is not None
    assert rejection(found) is None


def test_a_rejected_fit_of_a_busy_machine_is_said_first_on_the_screen_and_on_the_page() -> None:
    report = sample_report()
    first, *others = report.targets
    bad = tuple(
        replace(
            one,
            busy="16 other programs ran on 2 CPUs",
            curves=tuple(
                replace(curve, predicted_seconds=2.0 * curve.measured_seconds)
                for curve in one.curves
            ),
            error=replace(one.error, median_relative=0.5, mean_relative=0.96, mean_factor=2.0),
        )
        for one in first.fits
    )
    spoiled = replace(report, targets=(replace(first, fits=bad), *others))
    words = "the machine was busy (16 other programs ran on 2 CPUs); measure again when it is idle"
    assert trust_of(spoiled.targets[0]).reason == words
    assert all(trust_of(target).level != "not usable" for target in report.targets)
    lines = summary_lines(spoiled)
    assert lines[0].startswith(f"{first.name}: not usable, because the machine was busy")
    overview = build(spoiled).sections[0]
    assert words in str(overview.blocks[0])
