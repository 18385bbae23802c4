"""What a survey does where the folder, the clock or the topology is against it: one sentence, and nothing is lost."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chiplog.dataset.run_file import read_run
from chiplog.errors import UsageError
from chiplog.machine_survey.job import SurveyStart, survey
from chiplog.machine_survey.plan import SurveyOptions

SIM = "sim:L=5us,o=1us,g=2us,G=1ns"
OPTIONS = SurveyOptions("sim", 4)
START = SurveyStart(ranks_are_given=True)
NOBODY = 65534


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A folder that can't be written, with a finished survey in it."""
    folder = tmp_path / "locked"
    folder.mkdir()
    survey(SIM, folder / "pairs.jsonl", OPTIONS, START)
    folder.chmod(0o500)
    yield folder
    folder.chmod(0o700)


def refused(out: Path) -> str:
    with pytest.raises(UsageError) as error:
        survey(SIM, out, OPTIONS, START)
    return str(error.value)


def test_a_folder_without_permission_is_refused_before_anything_starts(
    locked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:  # to whom nothing is forbidden
        monkeypatch.setattr(os, "access", lambda path, _: Path(path) != locked)
    before = (locked / "pairs.jsonl").read_bytes()
    for out in (locked / "new", locked / "new" / "deeper", locked / "other.jsonl"):
        assert f"{locked} can't be written" in refused(out)
    assert (locked / "pairs.jsonl").read_bytes() == before
    assert len(list(locked.iterdir())) == 1


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert f"{tmp_path / 'file'} is no folder" in refused(tmp_path / "file" / "survey")
    assert (tmp_path / "file").read_text() == "mine"


def test_the_command_says_it_in_one_sentence_to_a_user_without_rights() -> None:
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        pytest.skip("only root can be somebody else")
    out = Path(os.sep, "survey-of-nobody")
    command = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", sys.executable]
    words = ["-m", "chiplog", "survey", SIM, "--ranks", "2", "-o", str(out)]
    done = subprocess.run(
        [*command, *words], capture_output=True, text=True, check=False, cwd=os.sep
    )
    if "No module named" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip("nobody may not read the package here")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert f"{os.sep} can't be written" in done.stderr
    assert not out.exists()


def test_a_clock_that_jumps_to_and_fro_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jumps = itertools.cycle((1e9, 4e9, 0.0, 2e9))
    real = time.time()
    monkeypatch.setattr(time, "time", lambda: real + next(jumps) - 2e9)
    found = survey(SIM, tmp_path / "s", OPTIONS, replace(START, budget=60.0))
    assert found.complete
    assert found.latency is not None and found.latency.quartiles[1] == pytest.approx(7e-6)
    assert read_run(tmp_path / "s" / "pairs.jsonl").complete
