"""What is hidden of a transfer, on machines whose hidden share is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command import chiplog as run_command

import chiplog
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fitting.quantities.overlap import HiddenShare
from chiplog.jobs.measure import measure
from chiplog.jobs.overlap import overlap
from chiplog.plan import PlanOptions, make_plan
from chiplog.plan.patterns import wire_of
from chiplog.report.document import Figure, Paragraph, text_of
from chiplog.report.input import TargetReport
from chiplog.report.overlap import summary
from chiplog.report.patterns import pattern_tables
from chiplog.report.sections import measured_times, section_of

L, O_SEND, O_RECEIVE, G = 5e-6, 1e-6, 1.5e-6, 0.5e-9
SIZES = (1, 1024, 65_536, 1_048_576)
EAGER_BYTES = 4096


def target(copied: float, more: str = "") -> str:
    """A network in which the processor itself moves each byte for `copied` nanoseconds."""
    return f"sim:L=5us,o_s=1us,o_r=1.5us,g=2us,G=0.5ns,O_s={copied}ns,O_r={copied}ns{more}"


def measured(folder: Path, target: str, **options: object) -> Dataset:
    made = PlanOptions(
        **{  # type: ignore[arg-type]
            "transport": "sim",
            "patterns": ("overlap",),
            "sizes": SIZES,
            "visits": 2,
            **options,
        }
    )
    measure(target, folder / "run.jsonl", made, refine=False)
    return read_run(folder / "run.jsonl")


def transfer(size: int, copied: float) -> float:
    """A message and an empty one in the other direction, in seconds."""
    return 2 * (L + O_SEND + O_RECEIVE) + (size - 1) * (G + 2e-9 * copied)


def truth(size: int, copied: float) -> float:
    """All but both overheads and what the processor copies on the side that computes; of both sides."""
    return 1.0 - (O_SEND + O_RECEIVE + (size - 1) * 1e-9 * copied) / transfer(size, copied)


def shares(dataset: Dataset) -> dict[tuple[str, int], HiddenShare]:
    return {(share.side, share.message_bytes): share for share in overlap(dataset)}


@pytest.mark.parametrize("copied", [0.0, 0.1, 0.5, 4.0])
def test_the_processor_s_own_work_is_what_is_not_hidden(tmp_path: Path, copied: float) -> None:
    found = shares(measured(tmp_path, target(copied)))
    assert set(found) == {(side, size) for side in ("send", "receive") for size in SIZES}
    for (_, size), share in found.items():
        assert share.transfer_seconds == pytest.approx(transfer(size, copied), abs=2e-9)
        assert share.computed_seconds >= share.transfer_seconds - 2e-9
        assert share.value == pytest.approx(truth(size, copied), abs=1e-3)
        assert share.low <= share.value <= share.high


def test_the_interval_holds_the_truth_in_noise(tmp_path: Path) -> None:
    held = []
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        noisy = measured(folder, target(0.1, f",noise=0.03,seed={seed}"), seed=seed)
        for (_, size), share in shares(noisy).items():
            held.append(share.low <= truth(size, 0.1) <= share.high)
            assert share.high - share.low < 0.2
    # Of 48 intervals that hold with 95 %, fewer than 41 would hold once in some thousand times.
    assert sum(held) >= 41


def test_a_handshake_without_progress_hides_its_way_only(tmp_path: Path) -> None:
    without = f",S={EAGER_BYTES},handshake=sync,progress=calls"
    found = shares(measured(tmp_path, target(0.0, without)))
    for (side, size), share in found.items():
        if size <= EAGER_BYTES:
            assert share.value == pytest.approx(truth(size, 0.0), abs=1e-3)
        else:
            # What a request and its answer, or two requests, take on their way.
            whole = transfer(size, 0.0) + 2 * (L + O_SEND + O_RECEIVE)
            early = 2 * L + O_SEND + O_RECEIVE
            assert share.value == pytest.approx(early / whole, abs=1e-3), (side, size)


def test_with_progress_a_handshake_is_hidden_too(tmp_path: Path) -> None:
    found = shares(measured(tmp_path, target(0.0, f",S={EAGER_BYTES},handshake=sync")))
    assert all(share.value > 0.8 for share in found.values())


def test_what_scatters_more_than_could_be_hidden_is_not_identified(tmp_path: Path) -> None:
    dataset = measured(tmp_path, target(0.0, ",noise=3"), sizes=(1,), visits=1)
    few = tuple(replace(series, seconds=series.seconds[:8]) for series in dataset.series)
    for share in overlap(replace(dataset, series=few)):
        assert not share.is_identified
        assert share.reason is not None and "scatter" in share.reason
        assert share.to_json()["hidden_share"] is None


def test_few_samples_tell_no_share(tmp_path: Path) -> None:
    dataset = measured(tmp_path, target(0.0), sizes=(8,), visits=1)
    few = tuple(replace(series, seconds=series.seconds[:3]) for series in dataset.series)
    for share in overlap(replace(dataset, series=few)):
        assert not share.is_identified
        assert share.reason == "fewer than 6 samples tell no interval"


def test_a_short_computation_leaves_open_what_a_longer_one_would_hide(tmp_path: Path) -> None:
    dataset = measured(tmp_path, target(0.0), sizes=(1_048_576,))
    computed = 0.5 * transfer(1_048_576, 0.0)
    shortened = tuple(
        replace(
            series,
            delay_seconds=computed,
            seconds=np.full(series.seconds.shape, transfer(1_048_576, 0.0)),
        )
        if series.delay_seconds > 0
        else series
        for series in dataset.series
    )
    for share in overlap(replace(dataset, series=shortened)):
        assert share.value == pytest.approx(0.5, abs=1e-3)
        assert share.low == pytest.approx(0.5, abs=1e-3)
        assert share.high == pytest.approx(1.0, abs=1e-3)


def test_both_sides_are_taken_in_turn_alone_and_with_a_computation() -> None:
    plan = make_plan(PlanOptions("mpi", ("overlap",), (8,), visits=1))
    grid = {tuple((s.pattern, s.delay_ns) for s in request.series) for request in plan.requests}
    assert grid == {
        (("overlap", 0), ("overlap", "rtt"), ("overlap_receive", 0), ("overlap_receive", "rtt"))
    }
    assert {wire_of(series) for series in plan.requests[0].series} == {(2, 8)}


def test_the_table_and_the_section_show_where_less_is_hidden(tmp_path: Path) -> None:
    without = f",S={EAGER_BYTES},handshake=sync,progress=calls"
    dataset = measured(tmp_path, target(0.0, without))
    (table,) = pattern_tables(dataset, most_rows=24, most_columns=4)
    assert [text_of(column.title) for column in table.columns][:4] == [
        "size",
        "send",
        "hidden",
        "95 % interval",
    ]
    assert [text_of(cell) for cell in table.rows[0]][:3] == ["1 B", "15.0 us", "83 %"]
    report = TargetReport("sim", dataset)
    assert measured_times.section(report, "one") is None
    section = section_of("overlap")(report, "some-key")
    assert section is not None
    assert section.identifier.startswith("some-key-")
    told, figure = section.blocks
    assert isinstance(told, Paragraph) and isinstance(figure, Figure)
    assert text_of(told.content) == summary(overlap(dataset))
    assert "of a send 83 to 84 % up to 1 KiB" in text_of(told.content)
    assert "from 64 KiB on; of a receive 83 to 84 % up to 1 KiB" in text_of(told.content)


def test_a_share_that_falls_nowhere_is_said_as_a_range(tmp_path: Path) -> None:
    told = summary(overlap(measured(tmp_path, target(0.0))))
    assert told.startswith("Hidden behind a computation: of a send 83 to 100 %; of a receive")


def test_json_and_python_have_the_shares(tmp_path: Path) -> None:
    out, result = tmp_path / "run.jsonl", tmp_path / "result.json"
    arguments = ("--pattern", "overlap", "--sizes", "8", "--no-refine", "--json", str(result))
    assert run_command("measure", target(0.0), *arguments, "-o", str(out)).code == 0
    rows = json.loads(result.read_text())["overlap"]
    assert [(row["side"], row["message_bytes"]) for row in rows] == [("send", 8), ("receive", 8)]
    assert rows[0]["hidden_share"] == pytest.approx(truth(8, 0.0), abs=1e-3)
    shown = chiplog.overlap(out)
    assert [row["hidden_share"] for row in shown.rows] == pytest.approx(
        [row["hidden_share"] for row in rows]
    )


def test_a_run_without_it_is_refused(tmp_path: Path) -> None:
    dataset = measured(tmp_path, target(0.0), patterns=("flood",), sizes=(8,))
    with pytest.raises(UsageError, match="patterns='overlap'"):
        chiplog.overlap(dataset)


def test_a_transport_without_posted_receives_is_refused_by_name(tmp_path: Path) -> None:
    arguments = ("--pattern", "overlap", "--sizes", "8", "-o", str(tmp_path / "run.jsonl"))
    refused = run_command("measure", "shm", *arguments)
    assert refused.code == 2
    assert "overlap: shm has no receive that is posted and waited for later" in refused.stderr
