"""What launched ranks are told so that they meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.measurement.meeting import (
    FILE_VARIABLE,
    FOLDER_VARIABLE,
    RENDEZVOUS_VARIABLE,
    SECRET_VARIABLE,
    Meeting,
    forwarding,
    meeting_at,
)


def launcher(folder: Path, name: str, says: str) -> str:
    program = folder / name
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("name", ["mpirun", "mpiexec", "mpirun.openmpi", "prterun"])
def test_open_mpis_launcher_is_told_to_hand_on_the_variables(name: str, tmp_path: Path) -> None:
    path = launcher(tmp_path, name, "mpirun (Open MPI) 4.1.4")
    words = forwarding([path, "-n", "2"], Meeting({RENDEZVOUS_VARIABLE: "here:1"}))
    assert words[0] == path
    assert words[-2:] == ["-n", "2"]
    assert words[1:-2] == ["-x", SECRET_VARIABLE, "-x", RENDEZVOUS_VARIABLE]


@pytest.mark.parametrize(("name", "says"), [("mpirun", "HYDRA"), ("srun", "Open MPI")])
def test_other_launchers_stay_as_they_are(name: str, says: str, tmp_path: Path) -> None:
    words = [launcher(tmp_path, name, says), "-n", "2"]
    assert forwarding(words, Meeting({})) == words


def test_a_launcher_that_is_not_there_stays_as_it_is() -> None:
    assert forwarding(["/no/such/mpirun", "x"], Meeting({})) == ["/no/such/mpirun", "x"]


def test_a_named_place_comes_before_a_search(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(RENDEZVOUS_VARIABLE, "there:2")
    assert meeting_at("here:1").environment == {RENDEZVOUS_VARIABLE: "here:1"}
    assert meeting_at(None).environment == {RENDEZVOUS_VARIABLE: "there:2"}
    monkeypatch.delenv(RENDEZVOUS_VARIABLE)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "meetings"))
    found = meeting_at(None)
    assert found.environment[RENDEZVOUS_VARIABLE].startswith("search:")
    assert found.file is not None
    assert found.environment[FILE_VARIABLE] == str(found.file)
    assert found.file.parent == tmp_path / "meetings"


def test_a_folder_that_cant_be_made_leaves_a_search_without_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "taken").touch()
    monkeypatch.delenv(RENDEZVOUS_VARIABLE, raising=False)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "taken" / "below"))
    assert meeting_at(None).file is None
