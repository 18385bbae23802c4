"""One way to write a file: links, permissions, FIFOs and standard output are what a user means by them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from all_commands import arguments as all_arguments
from all_commands import options

from chiplog.cli import main
from chiplog.errors import RunFailed
from chiplog.output_file import refuse_unwritable, replacing, write_files, write_text

OUTPUTS = ("-o", "--json", "--report", "--samples", "--trace")
GROWING = {("measure", "-o"), ("survey", "-o"), ("trace", "-o"), ("run", "-o")}
"""Files and folders that grow while their commands work; they are opened first."""


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


def missing_words(parameters: Sequence[Any]) -> Iterator[str]:
    """A value for each parameter that a command can't do without."""
    for parameter in parameters:
        if parameter.required and parameter.param_type_name == "argument":
            yield "no-such-thing"
        elif parameter.required:
            yield f"{parameter.opts[0]}=4"


@pytest.mark.parametrize("command", sorted({name for name, _ in options()}))
def test_an_output_that_cannot_be_written_is_refused_before_any_work(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything else on these command lines is missing or wrong: that would be said as soon as work began."""
    (tmp_path / "file").write_text("old")
    parameters = [option for name, option in options() if name == command]
    arguments = [argument for name, argument in all_arguments() if name == command]
    for parameter in parameters:
        name = parameter.opts[0]
        if name not in OUTPUTS or (command, name) in GROWING or parameter.type.name == "integer":
            continue
        others = [other for other in parameters if other is not parameter]
        words = [*command.split(), *missing_words([*arguments, *others])]
        for place, said in (
            (tmp_path, "Is a directory"),
            (tmp_path / "no" / "new", f"there is no folder {tmp_path / 'no'}"),
            (tmp_path / "file" / "new", f"{tmp_path / 'file'} is no folder"),
        ):
            assert main([*words, name, str(place)]) == 1, words
            (line,) = capsys.readouterr().err.splitlines()
            assert line.startswith(f"chiplog: {place} can't be written: {said}")
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_text() == "old"


def test_a_link_to_a_missing_folder_names_that_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere/file")
    with pytest.raises(RunFailed, match=f"link can't be written: there is no folder {tmp_path}"):
        refuse_unwritable(tmp_path / "link")
