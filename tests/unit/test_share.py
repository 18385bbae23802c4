"""`chiplog share`: a machine in a small file, without names of hosts or addresses, and side by side on a page."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from json_schemas import validate

from chiplog.cli import main
from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.fitting.model_file import write_model

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "site"))
NETWORK = "sim:L=5us,o=1us,g=2us,G=0.5ns,change=8KiB:L=9us,noise=0.01,seed=3"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fits of a network on which exchanges were measured."""
    folder = tmp_path_factory.mktemp("share")
    words = ("--pattern", "prtt,exchange", "--sizes", "1:64KiB:1", "--no-refine")
    assert main(["measure", NETWORK, *words, "-o", str(folder / "run.jsonl")]) == 0
    write_model(folder / "model.json", fit(read_run(folder / "run.jsonl"), ["hockney", "loggp"]))
    return folder / "model.json"


def shared(model: Path, out: Path, *words: str) -> dict[str, Any]:
    assert main(["share", str(model), "--name", "mine", "-o", str(out), *words]) == 0
    content: dict[str, Any] = json.loads(out.read_text())
    validate(content)
    return content


def test_what_is_shared_is_small_and_has_what_was_measured(model: Path, tmp_path: Path) -> None:
    content = shared(model, tmp_path / "machine.json")
    assert (tmp_path / "machine.json").stat().st_size < 8192
    assert content["simulated"] is True
    (network,) = content["networks"]
    assert network["model"] == "loggp"
    assert network["changes"][0]["last_before_bytes"] == 8192
    assert network["segments"][0]["parameters"]["L"]["value"] == pytest.approx(5e-6, rel=0.1)
    assert all(0.9 < factor < 1.1 for factor in network["exchange_factors"]["factor"])
    assert len(network["half_round_trips"]["seconds"]) == 17


def test_no_host_and_no_option_of_the_target_is_shared(model: Path, tmp_path: Path) -> None:
    text = json.dumps(shared(model, tmp_path / "machine.json"))
    assert f'"{socket.gethostname()}"' not in text
    assert "sim:L" not in text and "seed" not in text


@pytest.mark.parametrize("name", ["", " ", "x" * 81])
def test_a_name_is_needed(
    name: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["share", str(model), "--name", name, "-o", str(tmp_path / "x")]) == 2
    assert "--name" in capsys.readouterr().err


def test_a_file_without_a_model_to_share_says_which_is_needed(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = tmp_path / "hockney.json"
    write_model(only, fit(read_run(model.with_name("run.jsonl")), ["hockney"]))
    assert main(["share", str(only), "--name", "mine", "-o", str(tmp_path / "x")]) == 2
    assert "chiplog fit --model loggp" in capsys.readouterr().err


def test_the_machines_of_the_site_are_what_share_writes_and_are_drawn() -> None:
    from machine_pages import side_by_side

    files = sorted((ROOT / "docs" / "machines").glob("*.json"))
    assert files
    for file in files:
        content = json.loads(file.read_text())
        validate(content)
        assert content["simulated"] is file.name.startswith("simulated-")
    page = side_by_side(ROOT)
    assert page.count("<polyline") == len(files)
    assert page.count("(simulated) |") == sum("simulated" in file.name for file in files)
    assert "\n\n" not in page[page.index("<svg") :].strip()


def test_without_machines_there_is_no_picture(tmp_path: Path) -> None:
    from machine_pages import side_by_side

    assert side_by_side(tmp_path) == ""


def test_names_of_machines_are_text_on_the_page(model: Path, tmp_path: Path) -> None:
    from machine_pages import side_by_side

    folder = tmp_path / "docs" / "machines"
    folder.mkdir(parents=True)
    name = "<script>|a"
    assert main(["share", str(model), "--name", name, "-o", str(folder / "a.json")]) == 0
    page = side_by_side(tmp_path)
    assert "<script>" not in page
    assert "&lt;script&gt;&#124;a (simulated) |" in page
