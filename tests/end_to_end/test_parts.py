"""A table of host and one of device buffers in one file: each command keeps them apart, and can be asked for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Finished, chiplog

SIZES = [2**k for k in range(21)]


def table(memory: str, factor: float) -> str:
    head = f"# OSU MPI-CUDA Latency Test v7.4\n# Send Buffer on {memory} and Receive Buffer on {memory}\n"
    rows = "".join(f"{size:<10}{factor * (2 + 1e-4 * size):18.2f}\n" for size in SIZES)
    return f"{head}# Size          Latency (us)\n{rows}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    (folder / "both.txt").write_text(table("HOST (H)", 1.0) + table("DEVICE (D)", 3.0))
    (folder / "device.txt").write_text(table("DEVICE (D)", 3.0))
    for name in ("both", "device"):
        run(folder, "import", "osu", f"{name}.txt", "-o", f"{name}.jsonl")
    run(folder, "fit", "both.jsonl", "--model", "loggp", "-o", "model.json")
    return folder


def run(folder: Path, *arguments: object, code: int = 0) -> Finished:
    finished = chiplog(*arguments, cwd=folder)
    assert finished.code == code, finished.stderr
    assert "Traceback" not in finished.stderr
    return finished


def latency(folder: Path, *options: str) -> list[float]:
    printed = run(folder, "fit", "both.jsonl", "--model", "hockney", *options, "--json", "-")
    fits = json.loads(printed.stdout)["fits"]
    return [fit["segments"][0]["parameters"]["alpha"]["value"] for fit in fits]


def test_fits_are_of_one_part_each(folder: Path) -> None:
    assert latency(folder) == pytest.approx([2e-6, 6e-6], rel=0.01)
    assert latency(folder, "--target", "device-buffers") == pytest.approx([6e-6], rel=0.01)
    titles = run(folder, "fit", "both.jsonl", "--model", "hockney").stdout
    assert "host-buffers" in titles and "device-buffers" in titles


@pytest.mark.parametrize(
    "command",
    [
        ("predict", "model.json", "barrier", "--ranks", "8"),
        ("compare", "both.jsonl", "--models", "loggp,hockney"),
    ],
)
def test_a_command_that_needs_one_part_lists_them(folder: Path, command: tuple[str, ...]) -> None:
    refused = run(folder, *command, code=2)
    assert "2 parts: host-buffers, device-buffers; say which one with --target" in refused.stderr
    run(folder, *command, "--target", "host-buffers")
    unknown = run(folder, *command, "--target", "gpu", code=2)
    assert "host-buffers, device-buffers" in unknown.stderr


def test_changes_are_shown_for_each_part(folder: Path) -> None:
    shown = run(folder, "changes", "both.jsonl").stdout
    assert "host-buffers:" in shown and "device-buffers:" in shown
    assert (
        "host-buffers"
        not in run(folder, "changes", "both.jsonl", "--target", "host-buffers").stdout
    )


def test_a_part_is_compared_with_a_file_of_its_own(folder: Path) -> None:
    for options in ((), ("--target", "device-buffers")):
        printed = run(folder, "compare", "both.jsonl", "device.jsonl", *options, "--json", "-")
        rows = json.loads(printed.stdout)["rows"]
        assert len(rows) == len(SIZES) + 1
        assert all(row["ratio"] == pytest.approx(1.0) for row in rows)


def test_a_report_has_a_part_a_target(folder: Path) -> None:
    run(folder, "report", "both.jsonl", "-o", "report.md")
    text = (folder / "report.md").read_text()
    assert "import:osu, host-buffers" in text and "import:osu, device-buffers" in text
