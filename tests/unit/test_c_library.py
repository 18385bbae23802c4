"""What the C library's loader says about copies, and what is said where there is none to ask."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from chiplog.measurement import groups as module
from chiplog.measurement.groups import c_library

LISTED = """glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x200, max: 0xffffffffffffffff)
glibc.cpu.x86_rep_stosb_threshold: 0x800 (min: 0x1, max: 0xffffffffffffffff)
glibc.cpu.x86_non_temporal_threshold: 0x6300000 (min: 0x4040, max: 0xfffffffffffffff)
"""


def maps(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "maps"
    path.write_text(text)
    return path


@pytest.fixture
def glibc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "7f00-7f10 r-xp 0 0:1 1 /usr/lib/ld-linux-x86-64.so.2\n"
    monkeypatch.setattr(module, "MAPS", maps(tmp_path, line))


@pytest.mark.usefixtures("glibc")
def test_the_sizes_at_which_copies_change_are_read_from_the_loader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def listed(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert command == ["/usr/lib/ld-linux-x86-64.so.2", "--list-tunables"]
        return subprocess.CompletedProcess(command, 0, LISTED, "")

    monkeypatch.setattr(module.subprocess, "run", listed)
    found = c_library()
    assert found is not None
    assert found["copy_limits_bytes"] == [2112, 103809024]


@pytest.mark.usefixtures("glibc")
@pytest.mark.parametrize(
    "error", [OSError(), subprocess.TimeoutExpired("", 2), subprocess.CalledProcessError(127, "")]
)
def test_a_loader_that_does_not_answer_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(module.subprocess, "run", fail)
    assert c_library() is None


def test_another_c_library_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAPS", maps(tmp_path, "7f00-7f10 r-xp 0 0:1 1 /lib/ld-musl.so\n"))
    assert c_library() is None
