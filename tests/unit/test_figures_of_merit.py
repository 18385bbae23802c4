"""`chiplog measure --fom`: lines that scripts read with regular expressions, under names that stay."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from run_files import example_header, example_record, example_series

from chiplog.cli import main
from chiplog.dataset.run_file import read_run, write_run
from chiplog.report.figures_of_merit import FigureOfMerit, figures_of_merit

EXACT = "sim:L=5us,o=1us,g=2us,G=0.5ns"
"""A message of s bytes takes 7 us + (s-1) 0.5 ns one way."""
LINE = re.compile(r"(?P<name>\S+) (?P<value>\d+(\.\d+)?) (?P<unit>us|MB/s)")


def printed(capsys: pytest.CaptureFixture[str], out: Path, *words: str) -> dict[str, str]:
    """The figures that `measure` prints, by name."""
    capsys.readouterr()
    assert main(["measure", EXACT, "--no-refine", "--fom", "-o", str(out), *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    matches = [LINE.fullmatch(line) for line in lines]
    assert lines and all(matches), lines
    found = {match["name"]: f"{match['value']} {match['unit']}" for match in matches if match}
    assert len(found) == len(lines), "a name stands twice"
    return found


def test_each_line_is_a_name_a_value_and_a_unit_and_tells_what_the_network_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, tmp_path / "run.jsonl", "--pattern", "prtt,flood", "--sizes", "1,1001")
    assert found["sim.ping_pong.1B.half_round_trip"] == "7 us"
    assert found["sim.ping_pong.1001B.half_round_trip"] == "7.5 us"
    assert found["sim.ping_pong.1001B.bandwidth"] == "133.47 MB/s"
    assert found["sim.prtt.1001B.gap"] == "2.5 us"
    assert found["sim.prtt.1B.o_s"] == found["sim.receive_overhead.1B.o_r"] == "1 us"
    assert found["sim.flood.1B.gap"] == "2 us"


def test_what_is_over_ranks_names_their_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--pattern", "pairs,exchange,one_to_many,barrier,all_pairs", "--sizes", "8")
    found = printed(capsys, tmp_path / "run.jsonl", *words, "--ranks", "4")
    for name in (
        "sim.pairs.8B.2pairs.half_round_trip",
        "sim.pairs.8B.2pairs.bandwidth",
        "sim.exchange.8B.1pairs.time",
        "sim.one_to_many.8B.3peers.round_trip",
        "sim.barrier.8B.1peers.time",
        "sim.all_pairs.8B.median_half_round_trip",
        "sim.all_pairs.8B.slowest_half_round_trip",
    ):
        assert name in found, sorted(found)


def test_operations_and_postings_stand_in_the_name(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    records = [
        example_record(
            number, example_series(pattern="ping_pong", operation=operation, posting="inline")
        )
        for number, operation in enumerate(("send", "rdma-write"))
    ]
    write_run(path, example_header(), records)
    names = [figure.name for figure in figures_of_merit(read_run(path))]
    assert any(".rdma-write.inline.ping_pong." in name for name in names), names
    assert any(".inline.ping_pong." in name and ".rdma" not in name for name in names), names


@pytest.mark.parametrize(
    ("value", "text"), [(1e-4, "0.0001"), (123456789.0, "123460000"), (0.2, "0.2"), (7.0, "7")]
)
def test_a_value_has_no_exponent(value: float, text: str) -> None:
    assert str(FigureOfMerit("shm.name", value, "us")) == f"shm.name {text} us"


@pytest.mark.parametrize("other", [["--dry-run"], ["--json", "-"]])
def test_standard_output_has_one_kind_of_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: list[str]
) -> None:
    out = tmp_path / "run.jsonl"
    assert main(["measure", EXACT, "--fom", "-o", str(out), *other]) == 2
    assert f"does not go with {' '.join(other)}" in capsys.readouterr().err
    assert not out.exists()


def test_a_file_of_json_goes_along_and_precision_ends_as_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "out.json"
    out = str(tmp_path / "run.jsonl")
    printed(capsys, Path(out), "--pattern", "ping_pong", "--sizes", "8", "--json", str(file))
    assert json.loads(file.read_text())["schema"] == "chiplog.measured/1"
    noisy = [f"{EXACT},noise=0.9,seed=7", "--pattern", "ping_pong", "--sizes", "8", "--visits", "1"]
    strict = ["--precision", "0.0001", "--strict", "--no-refine", "--fom", "-o", f"{out}.strict"]
    assert main(["measure", *noisy, *strict]) == 4
