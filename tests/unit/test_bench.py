"""Medians over launches, ratios with verdicts, and which mode is believed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate

from chiplog.benchmarking.launched import Launched, read_launch, write_samples
from chiplog.benchmarking.result import bench_to_json, summarise
from chiplog.benchmarking.statistics import median, ratio
from chiplog.cli import main
from chiplog.cli.bench_text import print_bench
from chiplog.dataset.lines import Where, decode_line
from chiplog.errors import RunFailed
from chiplog.jobs.anchor_files import read_anchors
from chiplog.measurement.launchers import LaunchCommand
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.probes import BuiltProbe


def launches(*centres: float, spread: float = 0.05) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [centre * np.exp(spread * rng.standard_normal(200)) for centre in centres]


def said(
    residual: float = 1e-9,
    *,
    floor: float = 2e-8,
    library: float | None = None,
    late: int = 0,
    operation: str = "barrier",
    ranks: int = 2,
    mpi: str = "an MPI",
) -> str:
    """What the program prints: 40 samples of 1 us by the MPI in each mode."""
    clock = {"residual_seconds": residual, "off_at_end_seconds": -residual / 2}
    about = {
        "type": "launch",
        "ranks": ranks,
        "operation": operation,
        "bytes": 8,
        "datatype": "byte",
        "calls": 100,
        "lead_seconds": 1e-5,
        "floor_seconds": floor,
        "mpi": mpi,
        "clocks": [{"rank": rank, **clock} for rank in range(ranks)],
    }
    lines = [about]
    for variant, seconds in (("mpi", 1e-6), ("library", library)):
        for mode in ("window", "barrier", "round"):
            if seconds is not None:
                invalid = list(range(late)) if mode == "window" else []
                samples = [10.0] * late + [seconds] * (40 - late)
                lines.append(
                    {
                        "type": "samples",
                        "mode": mode,
                        "variant": variant,
                        "seconds": samples,
                        "invalid": invalid,
                    }
                )
    return "noise\n" + "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in lines)


class FakeMachine:
    """Stands for launches: the library takes 1/ranks of the MPI's time, and some numbers of ranks fail."""

    def __init__(self, *, library: bool = True, failing: tuple[int, ...] = ()) -> None:
        self.library, self.failing = library, failing
        self.asked: list[tuple[int, str | None]] = []

    def launches_of(
        self, operation: str, ranks: int, *, mpi: str | None = None, **_: object
    ) -> tuple[list[Launched], list[str]]:
        self.asked.append((ranks, mpi))
        if ranks in self.failing:
            raise RunFailed("ranks come late.")
        name = f"{mpi or 'an MPI'} 1.0, built somewhere"
        text = said(
            operation=operation,
            ranks=ranks,
            mpi=name,
            library=1e-6 / ranks if self.library else None,
        )
        return [read_launch(text)] * 3, ["mpirun"]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    fake = FakeMachine()
    monkeypatch.setattr("chiplog.benchmarking.several.launches_of", fake.launches_of)
    return fake


def test_several_ranks_and_mpis_are_a_table_a_page_and_anchors(
    tmp_path: Path, machine: FakeMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: str(tmp_path / name) for name in ("b.json", "b.jsonl", "b.html", "b.md")}
    options = ["--ranks", "2,4,8", "--mpi", "one", "--mpi", "two", "--library", "default"]
    out = ["--json", files["b.json"], "-o", files["b.jsonl"]]
    for page in ("b.html", "b.md"):
        assert main(["bench", "barrier", *options, *out, "--report", files[page]]) == 0
    assert machine.asked[:6] == [(n, mpi) for n in (2, 4, 8) for mpi in ("one", "two")]
    said_lines = capsys.readouterr().out.splitlines()
    assert max(map(len, said_lines)) <= 80
    rows = [line.split() for line in said_lines if line.startswith("8 ") and " two" in line]
    assert [row[3:6] for row in rows[-3:]] == [
        ["by", "windows", "0.125"],
        ["after", "a", "barrier"],
        ["by", "rounds", "*"],
    ]
    assert rows[-1][6:] == ["0.125", "[0.125,", "0.125]", "faster"]
    content = json.loads(Path(files["b.json"]).read_text())
    validate(content)
    for measured in content["benches"]:
        validate(measured)
        assert measured["ratio"]["value"] == pytest.approx(1 / measured["ranks"])
    markdown = Path(files["b.md"]).read_text()
    for words in ("by windows", "after a barrier", "by rounds", "two 1.0", "0.125"):
        assert words in markdown
    assert "ratio-over-ranks" in Path(files["b.html"]).read_text()
    anchors = read_anchors([files["b.json"]])
    assert [anchor.ranks for anchor in anchors] == [2, 2, 4, 4, 8, 8]
    lines = Path(files["b.jsonl"]).read_bytes().splitlines(keepends=True)
    members = [decode_line(line, Where("b.jsonl")) for line in lines]
    launched = [(m["ranks"], m["launch"]) for m in members if m["type"] == "launch"]
    assert launched == [
        (ranks, n) for n, ranks in enumerate(r for r in (2, 4, 8) for _ in range(6))
    ]


def test_what_was_measured_is_shown_where_some_ranks_fail(
    tmp_path: Path, machine: FakeMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.failing, machine.library = (4,), False
    words = ["bench", "barrier", "--ranks", "2,4,8", "--json", str(tmp_path / "b.json")]
    assert main(words) == 1
    captured = capsys.readouterr()
    assert "4 ranks: ranks come late." in captured.err
    assert [line[0] for line in captured.out.splitlines() if line[0] in "248"] == ["2"] * 3 + [
        "8"
    ] * 3
    content = json.loads((tmp_path / "b.json").read_text())
    assert [measured["ranks"] for measured in content["benches"]] == [2, 8]
    machine.failing = (2,)
    assert main(["bench", "barrier"]) == 1
    assert capsys.readouterr().err.strip().endswith("chiplog: ranks come late.")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--ranks", "2,4", "--launcher", "mpirun -n 2"), "--launcher"),
        (("--mpi", "a", "--mpi", "b", "--launcher", "mpirun -n 2"), "--launcher"),
        (("--mpi", "a", "--mpi", "b", "--library-path", "x.so"), "--library-path"),
        (("--ranks", "4:2"), "--ranks"),
        (("--ranks", "x"), "--ranks"),
        (("--report", "page.pdf"), "page.pdf"),
        (("--guidelines", "--ranks", "2,4"), "--guidelines"),
        (("--guidelines", "--report", "page.md"), "--report"),
    ],
)
def test_what_does_not_fit_several_is_refused_before_anything_starts(
    words: tuple[str, ...], option: str, machine: FakeMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "barrier", *words]) == 2
    assert option in capsys.readouterr().err
    assert machine.asked == []


def test_a_launcher_is_told_each_number_of_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[Sequence[str]] = []

    def launch(command_of: Callable[[], LaunchCommand], _: float) -> Launched:
        command = command_of().command
        launched.append(command)
        return read_launch(said(ranks=int(command[2])))

    program = BuiltProbe(
        Path("bench"), "key", Mpi("openmpi", "1", Path("mpicxx"), Path("mpirun"), "", "")
    )
    monkeypatch.setattr("chiplog.benchmarking.benchmark.find_mpi", lambda *_: program.mpi)
    monkeypatch.setattr("chiplog.benchmarking.benchmark.build_program", lambda *_, **__: program)
    monkeypatch.setattr("chiplog.benchmarking.benchmark._launch", launch)
    words = ["--ranks", "2:8", "--launcher", "srun -n {ranks}", "--launches", "1"]
    assert main(["bench", "barrier", *words]) == 0
    assert [list(command[:3]) for command in launched] == [
        ["srun", "-n", n] for n in ("2", "4", "8")
    ]


def test_what_the_library_did_is_what_it_said_last() -> None:
    says = "chiplog: barrier of 4 ranks (MPI_COMM_WORLD): "
    messages = f"{says}first\n{says}3-way dissemination among 4 ranks, by trial\n"
    messages += "chiplog: barrier of 2 ranks (other): linear barrier\n"
    found = summarise([read_launch(said(library=5e-7), messages)])
    assert found.library == "3-way dissemination among 4 ranks, by trial"
    validate(bench_to_json(found))
    assert bench_to_json(found)["library"] == found.library
    assert "library" not in bench_to_json(summarise([read_launch(said())]))


def test_the_interval_covers_what_launches_differ_by() -> None:
    alike, different = median(launches(1.0, 1.0, 1.0)), median(launches(0.8, 1.0, 1.3))
    assert alike.high - alike.low < 0.05
    assert different.low < 0.85 and different.high > 1.2
    assert alike.value == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("above", "below", "verdict"),
    [
        ((0.5, 0.5, 0.5), (1, 1, 1), "faster"),
        ((1.5, 1.5, 1.5), (1, 1, 1), "slower"),
        ((1, 1, 1), (1, 1, 1), "same"),
        ((0.5, 1.0, 1.6), (1, 1, 1), "unclear"),
    ],
)
def test_a_verdict_needs_the_whole_interval(
    above: tuple[float, ...], below: tuple[float, ...], verdict: str
) -> None:
    assert ratio(launches(*above), launches(*below)).verdict == verdict


def test_a_ratio_is_taken_within_each_launch() -> None:
    """Launches differ by a factor of 3; within each, one takes half the time of the other."""
    found = ratio(launches(0.5, 1.0, 1.5), launches(1.0, 2.0, 3.0))
    assert found.estimate.value == pytest.approx(0.5, abs=0.01)
    assert found.estimate.high - found.estimate.low < 0.03


def test_windows_are_believed_where_the_clocks_are_fine_enough() -> None:
    fine, coarse = (summarise([read_launch(said(error))] * 2) for error in (5e-8, 5e-7))
    assert (fine.mode, coarse.mode) == ("window", "round")
    assert coarse.clock_error_seconds == 5e-7
    assert summarise([read_launch(said(floor=2e-7))]).mode == "round"


@pytest.mark.parametrize(
    ("operation", "mode"),
    [
        ("allreduce", "round"),
        *((name, "barrier") for name in ("bcast", "reduce", "gather", "scatter")),
    ],
)
def test_calls_in_a_row_that_overlap_are_not_believed(operation: str, mode: str) -> None:
    coarse = summarise([read_launch(said(5e-7, operation=operation))] * 2)
    assert coarse.mode == mode
    validate(bench_to_json(coarse))
    assert summarise([read_launch(said(operation=operation))]).mode == "window"


@pytest.mark.parametrize(
    ("residual", "floor", "reason"),
    [
        (1e-9, 1e-5, "a window without any operation takes 10 us"),
        (1e-5, 2e-8, "clocks agree only within 10 us"),
    ],
)
def test_a_disturbed_machine_gives_no_verdict(residual: float, floor: float, reason: str) -> None:
    """100 calls of 0.5 us in a row take 50 us: a tenth of that is less than what is off."""
    found = summarise([read_launch(said(residual, floor=floor, library=5e-7))] * 3)
    assert found.mode == "round"
    assert {one.verdict for one in found.ratios.values()} == {"unclear"}
    assert found.ratios["round"].reason.startswith(reason)
    assert bench_to_json(found)["reason"] == found.ratios["round"].reason
    validate(bench_to_json(found))


def test_a_floor_that_rules_out_windows_leaves_rounds_their_verdict() -> None:
    found = summarise([read_launch(said(floor=2e-7, library=5e-7))] * 3)
    assert (found.mode, found.ratios["round"].verdict) == ("round", "faster")
    assert found.ratios["window"].verdict == "unclear"
    assert bench_to_json(found)["reason"] is None


def test_launches_that_contradict_each_other_give_no_verdict() -> None:
    """All five are below 1, and so is their interval; two are off the median by a quarter and more."""
    found = ratio(launches(0.3, 0.4, 0.6, 0.8, 0.85), launches(1, 1, 1, 1, 1))
    assert found.estimate.high < 1
    assert found.verdict == "unclear" and "half of the launches" in found.reason


def test_the_verdict_is_the_first_line_and_no_line_is_wider_than_a_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_bench(summarise([read_launch(said(floor=1e-4, library=5e-7))] * 3))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("library / MPI's own: 0.500 (0.500 to 0.500): unclear, because a")
    assert max(map(len, lines)) <= 80


def test_late_samples_are_counted_kept_and_left_out_of_the_median(tmp_path: Path) -> None:
    launch = read_launch(said(late=10))
    row = summarise([launch]).row("window", "mpi")
    assert (row.samples, row.invalid, row.seconds.value) == (40, 10, 1e-6)
    write_samples(tmp_path / "raw.jsonl", [launch], ["mpirun"])
    lines = (tmp_path / "raw.jsonl").read_bytes().splitlines(keepends=True)
    members = [decode_line(one, Where("raw.jsonl")) for one in lines]
    assert members[0]["type"] == "header" and members[-1] == {"type": "footer", "lines": 4}
    assert members[2]["seconds"][:11] == [10.0] * 10 + [1e-6]  # type: ignore[index]
    assert members[2]["valid"].count(False) == 10  # type: ignore[attr-defined]


def test_a_launch_without_one_start_in_time_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(RunFailed, match="--lead"):
        summarise([read_launch(said(late=40))])


def test_a_program_that_ended_early_is_an_error() -> None:
    with pytest.raises(RunFailed, match="ended before"):
        read_launch("mpirun: killed\n")


def test_the_library_is_held_against_the_mpi_in_the_json() -> None:
    content = bench_to_json(summarise([read_launch(said(library=0.25e-6))] * 3))
    validate(content)
    assert content["ratio"]["value"] == pytest.approx(0.25) and content["verdict"] == "faster"
    assert (content["library_median_seconds"], content["mpi_median_seconds"]) == (0.25e-6, 1e-6)
    validate(bench_to_json(summarise([read_launch(said())])))
