"""One way to write a file: links, permissions, FIFOs and standard output are what a user means by them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from chiplog.errors import RunFailed
from chiplog.output_file import replacing, write_files, write_text


def test_a_file_keeps_its_permissions_and_a_link_its_target(tmp_path: Path) -> None:
    real, link = tmp_path / "folder" / "real", tmp_path / "link"
    real.parent.mkdir()
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink() and real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert os.listdir(real.parent) == ["real"]


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_what_fails_half_way_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "file") as stream:
        stream.write(b"half")
        stream.flush()
        raise KeyboardInterrupt
    assert (tmp_path / "file").read_text() == "old" and os.listdir(tmp_path) == ["file"]


def test_of_several_files_none_is_replaced_before_all_can_be(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "no" / "second"
    first.write_text("old")
    with pytest.raises(RunFailed, match=r"second can't be written: there is no folder"):
        write_files({first: "new", second: "new"})
    assert first.read_text() == "old" and os.listdir(tmp_path) == ["first"]


def test_a_folder_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="Is a directory"):
        write_text(tmp_path, "")


def test_a_fifo_is_written_as_it_is(tmp_path: Path) -> None:
    fifo, read = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    write_text(fifo, "result")
    reader.join(timeout=30)
    assert read == ["result"] and stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output_is_written_in_its_place(tmp_path: Path, name: str) -> None:
    """Even where it is a file: what was printed before stays."""
    script = (
        "from chiplog.output_file import write_text; import sys; print('before');"
        "write_text(sys.argv[1], 'result\\n'); print('after')"
    )
    out = tmp_path / "out"
    with out.open("w") as stream:
        subprocess.run(
            [sys.executable, "-c", script, name], stdout=stream, cwd=tmp_path, check=True
        )
    assert out.read_text() == "before\nresult\nafter\n" and os.listdir(tmp_path) == ["out"]
