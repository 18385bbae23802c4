"""What is said where an MPI's compiler does not work."""

import pytest

from chiplog.errors import RunFailed
from chiplog.measurement.mpis import first_error, identify_mpi

NO_COMPILER = """\
--------------------------------------------------------------------------
The wrapper was unable to find the compiler
c++ in your PATH.

Note that this compiler was specified elsewhere.
--------------------------------------------------------------------------
"""


def test_rules_are_not_what_is_wrong_and_a_paragraph_is_read_whole() -> None:
    assert (
        first_error(NO_COMPILER) == "The wrapper was unable to find the compiler c++ in your PATH"
    )


def test_a_line_with_an_error_is_preferred_and_silence_is_named() -> None:
    assert first_error("note\na.cpp:1: error: no\n") == "a.cpp:1: error: no"
    assert first_error("\n---\n") == "it says nothing"


def test_a_machine_without_compiler_is_told_to_install_one(tmp_path, monkeypatch) -> None:
    wrapper = tmp_path / "mpicxx"
    wrapper.write_text("#!/bin/sh\necho 'unable to find c++' >&2\nexit 1\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunFailed, match=r"unable to find c\+\+\. No C\+\+20 compiler is on PATH"):
        identify_mpi(str(wrapper))
