"""Finding MPIs, building probes into the cache and starting them, with an MPI that is only a shell script."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from fake_mpi import COMPILER, OPEN_MPI_H, make_executable, make_mpi, make_sources, needs_compiler

from chiplog.errors import RunFailed, UsageError
from chiplog.measurement import launchers, mpis, probes


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    native = make_sources(
        tmp_path / "native",
        '#include <mpi.h>\n#include <cstdio>\nint part();\nint main() { std::printf("%d %d", '
        "part(), OMPI_MAJOR_VERSION); }\n",
    )
    monkeypatch.setattr(probes, "native_sources", lambda: native)
    return native


@pytest.mark.parametrize("package", ["lib/python3.11/site-packages/chiplog", "chiplog"])
def test_what_pip_installed_elsewhere_is_found(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with --user or --prefix, and with --target: this Python's own folders know nothing of them."""
    program = make_executable(tmp_path / "bin" / probes.PROBE_NAME, "#!/bin/sh\n")
    native = tmp_path / "share" / "chiplog" / "native"
    native.parent.mkdir(parents=True)
    make_sources(native, "int main() {}\n")
    monkeypatch.setattr(probes, "__file__", str(tmp_path / package / "measure" / "probes.py"))
    monkeypatch.delenv(probes.PROBE_VARIABLE, raising=False)
    assert probes.native_sources() == native
    assert probes.base_probe() == program


def test_sources_that_are_nowhere_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "__file__", str(tmp_path / "a/b/c/d/chiplog/measure/probes.py"))
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(RunFailed, match="install chiplog again"):
        probes.native_sources()


@needs_compiler
@pytest.mark.parametrize(
    ("header", "kind", "version"),
    [
        (OPEN_MPI_H, "openmpi", "9.8.7"),
        ('#define MPICH_VERSION "5.6"\n', "mpich", "5.6"),
        ('#define MPICH_VERSION "3.4a2"\n#define I_MPI_VERSION "2021.9"\n', "intel", "2021.9"),
        ("#define SMPI_H\n", "smpi", "3.99"),
        ("", "unknown", ""),
    ],
)
def test_an_mpi_is_known_by_the_macros_of_its_header(
    tmp_path: Path, header: str, kind: str, version: str
) -> None:
    mpi = mpis.identify_mpi(str(make_mpi(tmp_path, header)))
    assert (mpi.kind, mpi.version) == (kind, version)
    assert mpi.compiler


@needs_compiler
def test_an_intel_wrapper_that_was_never_relocated_is_told_its_directory(tmp_path: Path) -> None:
    make_mpi(tmp_path, '#define I_MPI_VERSION "2021.9"\n')
    wrapper = make_executable(
        tmp_path / "bin" / "mpicxx",
        f"#!/bin/sh\nroot=${{I_MPI_ROOT:-{mpis.UNRELOCATED}}}\n"
        f'[ "$1" = -show ] && {{ echo c++ -I$root/include; exit; }}\n'
        f'exec {COMPILER} -I$root/include "$@"\n',
    )
    mpi = mpis.identify_mpi(str(wrapper))
    assert mpi.environment == {"I_MPI_ROOT": str(tmp_path)}
    assert mpis.UNRELOCATED not in mpi.command


def test_a_wrapper_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="no-such-mpicxx"):
        mpis.identify_mpi("no-such-mpicxx")


@needs_compiler
def test_a_wrapper_without_its_header_is_refused_with_the_compilers_words(tmp_path: Path) -> None:
    wrapper = make_mpi(tmp_path, "")
    (tmp_path / "include" / "mpi.h").unlink()
    with pytest.raises(RunFailed, match=r"mpi\.h"):
        mpis.identify_mpi(str(wrapper))


@needs_compiler
def test_the_launcher_is_the_one_that_belongs_to_the_wrapper(tmp_path: Path) -> None:
    make_mpi(tmp_path, OPEN_MPI_H, "mpirun.mpich", "mpiexec")
    (tmp_path / "bin" / "mpirun").symlink_to("mpirun.mpich")
    mpi = mpis.identify_mpi(str(tmp_path / "bin" / "mpicxx"))
    assert mpi.launcher == tmp_path / "bin" / "mpiexec"


@needs_compiler
def test_one_mpi_under_two_names_is_found_once_and_a_simulated_one_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_mpi(tmp_path / "simulated", "#define SMPI_H\n", wrapper="smpicxx")
    wrapper = make_mpi(tmp_path / "real", OPEN_MPI_H)
    wrapper.with_name("mpicxx.openmpi").symlink_to("mpicxx")
    path = os.pathsep.join([str(tmp_path / "simulated" / "bin"), str(wrapper.parent), "/usr/bin"])
    monkeypatch.setattr(mpis, "_wrappers", _only_below(tmp_path, mpis._wrappers))
    monkeypatch.setenv("PATH", path)
    assert [mpi.kind for mpi in mpis.find_mpis()] == ["openmpi", "smpi"]


@needs_compiler
def test_the_first_mpi_is_a_real_one_with_a_launcher_and_the_others_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated = make_mpi(tmp_path / "simulated", "#define SMPI_H\n", wrapper="smpicxx")
    bare = make_mpi(tmp_path / "bare", OPEN_MPI_H)
    whole = make_mpi(tmp_path / "whole", OPEN_MPI_H, "mpirun")

    def wrappers() -> Iterator[Path]:
        yield from (simulated, bare, whole)
        raise AssertionError("one more was asked for")

    monkeypatch.setattr(mpis, "_wrappers", wrappers)
    first = mpis.first_mpi()
    assert first is not None
    assert first.mpicxx == whole


def _only_below(root: Path, wrappers):  # type: ignore[no-untyped-def]
    return lambda: (path for path in wrappers() if path.is_relative_to(root))


@needs_compiler
def test_a_built_probe_runs_and_the_second_build_comes_from_the_cache(
    tmp_path: Path, sources: Path
) -> None:
    wrapper = make_mpi(tmp_path / "mpi", OPEN_MPI_H, "mpirun")
    said: list[str] = []
    probe = probes.build_probe(str(wrapper), cache_dir=tmp_path / "cache", progress=said.append)
    done = subprocess.run([probe.path], capture_output=True, text=True, check=True)
    assert done.stdout == "7 9"
    assert said

    said.clear()
    again = probes.build_probe(str(wrapper), cache_dir=tmp_path / "cache", progress=said.append)
    assert again == probe
    assert not said
    assert probes.list_probes(tmp_path / "cache") == (probe,)


@needs_compiler
def test_a_changed_source_and_another_mpi_each_make_another_probe(
    tmp_path: Path, sources: Path
) -> None:
    cache = tmp_path / "cache"
    first = probes.build_probe(str(make_mpi(tmp_path / "a", OPEN_MPI_H)), cache_dir=cache)
    other = probes.build_probe(str(make_mpi(tmp_path / "b", OPEN_MPI_H)), cache_dir=cache)
    (sources / "src" / "core" / "header.hpp").write_text("// new\n")
    changed = probes.build_probe(str(tmp_path / "a" / "bin" / "mpicxx"), cache_dir=cache)
    assert len({first.key, other.key, changed.key}) == 3


def in_cache(cache: Path) -> list[str]:
    return [path.name for path in cache.iterdir() if path.name != "objects"]


@needs_compiler
def test_a_source_that_does_not_compile_is_one_sentence_with_the_path_of_the_log(
    tmp_path: Path, sources: Path
) -> None:
    (sources / "src" / "core" / "bad.cpp").write_text("int bad() { return nonsense; }\n")
    wrapper = make_mpi(tmp_path / "mpi", OPEN_MPI_H)
    with pytest.raises(RunFailed, match=r"bad\.cpp.*nonsense.*\.log") as caught:
        probes.build_probe(str(wrapper), cache_dir=tmp_path / "cache")
    log = Path(str(caught.value).rsplit(" ", 1)[1].rstrip("."))
    assert "nonsense" in log.read_text()
    assert in_cache(tmp_path / "cache") == [log.name]


@needs_compiler
def test_builds_of_the_same_probe_at_once_end_with_the_same_probe(
    tmp_path: Path, sources: Path
) -> None:
    wrapper = str(make_mpi(tmp_path / "mpi", OPEN_MPI_H))
    with ThreadPoolExecutor(4) as pool:
        built = pool.map(
            lambda _: probes.build_probe(wrapper, cache_dir=tmp_path / "cache"), range(4)
        )
    assert len({probe.path for probe in built}) == 1
    assert in_cache(tmp_path / "cache") == [probes.list_probes(tmp_path / "cache")[0].key]


@needs_compiler
def test_what_no_mpi_has_a_part_in_is_compiled_once_for_all_of_a_compiler(
    tmp_path: Path, sources: Path
) -> None:
    (sources / "src" / "core" / "plain.cpp").write_text("int plain() { return 1; }\n")
    (sources / "src" / "core" / "ours.hpp").write_text("#include <mpi.h>\n")
    (sources / "src" / "core" / "indirect.cpp").write_text('#include "core/ours.hpp"\n')

    def compiled(name: str) -> set[str]:
        told: list[str] = []
        wrapper = make_mpi(tmp_path / name, OPEN_MPI_H)
        probes.build_probe(str(wrapper), cache_dir=tmp_path / "cache", progress=told.append)
        return {line.rsplit("/", 1)[-1] for line in told if line.startswith("compiled")}

    first, second = compiled("one"), compiled("other")
    assert first >= {"plain.cpp", "indirect.cpp"}
    assert "plain.cpp" not in second
    assert "indirect.cpp" in second


@needs_compiler
@pytest.mark.parametrize("damage", ["{}", "no json", '{"schema": "chiplog.probe/1"}', "[]"])
def test_a_damaged_manifest_is_built_anew(tmp_path: Path, sources: Path, damage: str) -> None:
    wrapper = str(make_mpi(tmp_path / "mpi", OPEN_MPI_H))
    probe = probes.build_probe(wrapper, cache_dir=tmp_path / "cache")
    probe.path.with_name(probes.MANIFEST_NAME).write_text(damage)
    assert probes.list_probes(tmp_path / "cache") == ()
    assert probes.build_probe(wrapper, cache_dir=tmp_path / "cache") == probe


def test_a_cache_that_can_not_be_written_is_named(tmp_path: Path, sources: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFailed, match=r"the cache .*file"):
        probes.build_probe(
            str(make_mpi(tmp_path / "mpi", OPEN_MPI_H)), cache_dir=tmp_path / "file" / "cache"
        )


def test_the_probe_named_in_the_environment_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = make_executable(tmp_path / "probe", "#!/bin/sh\n")
    monkeypatch.setenv(probes.PROBE_VARIABLE, str(program))
    assert probes.base_probe() == program
    monkeypatch.setenv(probes.PROBE_VARIABLE, str(tmp_path / "absent"))
    with pytest.raises(UsageError, match="absent"):
        probes.base_probe()


def test_a_machine_without_a_probe_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(probes.PROBE_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(probes.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(RunFailed, match=probes.PROBE_VARIABLE):
        probes.base_probe()


def a_probe(kind: str, launcher: str | None = "/opt/bin/mpirun") -> probes.BuiltProbe:
    mpi = mpis.Mpi(
        kind=kind,
        version="1",
        mpicxx=Path("/opt/bin/mpicxx"),
        launcher=None if launcher is None else Path(launcher),
        compiler="12",
        command="c++",
        environment={"I_MPI_ROOT": "/opt"} if kind == "intel" else {},
    )
    return probes.BuiltProbe(Path("/cache/probe"), "key", mpi)


def test_a_manifest_keeps_all_of_an_mpi() -> None:
    for launcher in ("/opt/bin/mpirun", None):
        mpi = a_probe("intel", launcher).mpi
        assert mpis.Mpi.from_json(json.dumps(mpi.to_json())) == mpi


def test_open_mpi_oversubscribes_only_beyond_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launchers, "usable_cores", lambda: 2)
    few = launchers.launch_command(a_probe("openmpi"), 2, ["mpi"]).command
    many = launchers.launch_command(a_probe("openmpi"), 3, ["mpi"]).command
    assert few == ("/opt/bin/mpirun", "-n", "2", "--bind-to", "none", "/cache/probe", "mpi")
    assert ":OVERSUBSCRIBE" in many


def test_open_mpi_is_allowed_to_run_as_root_by_root_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launchers, "open_mpi_session", dict)
    for user, expected in ((0, launchers.OPEN_MPI_AS_ROOT), (1000, {})):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert launchers.launch_command(a_probe("openmpi"), 2, []).environment == expected


def test_each_launch_of_open_mpi_has_a_session_directory_unless_the_user_chose_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in launchers.OPEN_MPI_SESSION:
        monkeypatch.delenv(name, raising=False)
    first, second = (launchers.open_mpi_session() for _ in range(2))
    assert first.keys() == second.keys() == set(launchers.OPEN_MPI_SESSION)
    assert not set(first.values()) & set(second.values())
    monkeypatch.setenv(launchers.OPEN_MPI_SESSION[0], "/scratch")
    assert list(launchers.open_mpi_session()) == [launchers.OPEN_MPI_SESSION[1]]


def test_intel_mpi_leaves_pinning_to_the_probe_and_knows_its_directory() -> None:
    environment = launchers.launch_command(a_probe("intel"), 2, []).environment
    assert environment == {"I_MPI_ROOT": "/opt", "I_MPI_PIN": "off"}


def test_a_simulated_platform_belongs_to_smpi_and_to_nothing_else() -> None:
    platform = launchers.SimulatedPlatform(
        Path("p.xml"), Path("hosts"), ("--cfg=smpi/os:0:1e-6:0",)
    )
    command = launchers.launch_command(a_probe("smpi"), 2, ["mpi"], simulated=platform).command
    assert command[-3:] == ("--cfg=smpi/os:0:1e-6:0", "/cache/probe", "mpi")
    assert command[:7] == (
        "/opt/bin/mpirun",
        "-np",
        "2",
        "-platform",
        "p.xml",
        "-hostfile",
        "hosts",
    )
    with pytest.raises(UsageError, match="smpicxx"):
        launchers.launch_command(a_probe("smpi"), 2, [])
    with pytest.raises(UsageError, match="smpicxx"):
        launchers.launch_command(a_probe("mpich"), 2, [], simulated=platform)


def test_an_mpi_without_a_launcher_is_told_so() -> None:
    probe = replace(a_probe("mpich", None))
    with pytest.raises(RunFailed, match="no launcher"):
        launchers.launch_command(probe, 2, [])
