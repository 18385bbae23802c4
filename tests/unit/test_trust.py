"""What others may have written in the cache is neither run nor compiled in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_mpi import OPEN_MPI_H, make_mpi, make_sources, needs_compiler

from chiplog.errors import RunFailed
from chiplog.measure import library, probes, programs

Build = Callable[[], Path]
BUILDS = {
    "probe": lambda mpi: probes.build_probe(mpi).path,
    "library": lambda mpi: library.build_library(mpi).path,
    "program": lambda mpi: programs.build_program("tool", mpi).path,
}
"""Each command that takes something from the cache to run it."""


@pytest.fixture
def build(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Build]:
    """Builds what the parameter names, below a cache of its own; with a permissive umask."""
    native = make_sources(tmp_path / "native", "int main() {}\n")
    (native / "src" / "core" / "plain.cpp").write_text("int plain() { return 1; }\n")
    (native / "src" / "collectives").mkdir()
    (native / "src" / "collectives" / "part.cpp").write_text("int part() { return 7; }\n")
    for name in library.SHARED_HEADERS:
        (native / "src" / name).write_text("")
    (native / "apps" / "tool").mkdir()
    (native / "apps" / "tool" / "main.cpp").write_text("int main() {}\n")
    for module in (probes, library, programs):
        monkeypatch.setattr(module, "native_sources", lambda: native)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wrapper = str(make_mpi(tmp_path / "mpi", OPEN_MPI_H))
    before = os.umask(0)
    yield lambda: BUILDS[request.param](wrapper)
    os.umask(before)


def spoil(path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "owner" and os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    elif how == "owner":
        monkeypatch.setattr("chiplog.measure.trust.os.geteuid", lambda: os.getuid() + 1)
    else:
        path.chmod(path.stat().st_mode | (0o020 if how == "group" else 0o002))


@needs_compiler
@pytest.mark.parametrize("build", BUILDS, indirect=True)
def test_what_others_own_or_may_write_is_refused_and_left_as_it_is(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build()
    assert build() == path, "what a permissive umask left is trusted"
    cache = tmp_path / "cache" / "chiplog"
    parts = [path, *path.parents[: len(path.relative_to(cache).parts) - 1]]
    if path.name == probes.PROBE_NAME:
        parts.append(path.with_name(probes.MANIFEST_NAME))
    for part in parts:
        for how in ("group", "other", "owner"):
            facts = part.stat()
            with monkeypatch.context() as patch:
                spoil(part, how, patch)
                with pytest.raises(
                    RunFailed, match=r"remove it, or name a cache of your own"
                ) as told:
                    build()
                assert str(part) in str(told.value) or how == "owner"
                assert not probes.list_probes()
            os.chown(part, facts.st_uid, facts.st_gid)
            part.chmod(facts.st_mode)
    assert build() == path


@needs_compiler
@pytest.mark.parametrize("build", ["probe"], indirect=True)
def test_compiled_files_that_others_may_write_are_not_linked(build: Build, tmp_path: Path) -> None:
    path = build()
    for compiled in (tmp_path / "cache" / "chiplog" / "probes" / "objects").rglob("*.o"):
        compiled.chmod(0o666)
    path.unlink()
    with pytest.raises(RunFailed, match=r"\.o may be written by other users"):
        build()


@needs_compiler
@pytest.mark.parametrize("build", ["program"], indirect=True)
def test_a_sticky_folder_may_be_written_by_all(build: Build) -> None:
    path = build()
    path.parent.chmod(0o1777)
    assert build() == path
