"""The wheel in a clean environment, without a compiler on PATH. `make test-wheel` builds it and names it."""

import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
WHEEL = os.environ.get("CHIPLOG_TEST_WHEEL")
TUTORIAL = ROOT / "docs" / "tutorials" / "first-measurement.md"
pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(not WHEEL, reason="CHIPLOG_TEST_WHEEL names no wheel: make test-wheel"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a command line of chiplog's in a clean environment, where PATH has that environment alone."""
    home = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True)
    python = home / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, WHEEL], check=True, timeout=280)
    kept = {key: os.environ[key] for key in ("HOME", "LANG", "TMPDIR") if key in os.environ}
    environment = {**kept, "PATH": str(python.parent), "XDG_CACHE_HOME": str(home / "cache")}
    (home / "work").mkdir()

    def command(line):
        program, *rest = shlex.split(line, comments=True)
        return subprocess.run(
            [python.parent / program, *rest],
            cwd=home / "work",
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )

    return command


def known_network_commands():
    """Commands of the tutorial that measure a network that is known, in their order."""
    section = TUTORIAL.read_text().partition("## 2.")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("chiplog ")]


def test_the_tag_is_manylinux_and_the_probe_is_in_the_wheel():
    assert "-manylinux_2_" in Path(WHEEL).name
    names = zipfile.ZipFile(WHEEL).namelist()
    assert any(name.endswith("scripts/chiplog-probe") for name in names)


def test_the_version_is_the_wheel_s(run):
    assert run("chiplog --version").stdout == f"chiplog {Path(WHEEL).name.split('-')[1]}\n"


def test_the_tutorial_s_known_network_runs_as_printed(run):
    lines = known_network_commands()
    assert len(lines) >= 4
    for line in lines:
        done = run(line)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert "8,192" in done.stdout


def test_run_measures_shm_tcp_and_unix_without_a_compiler(run):
    done = run("chiplog run shm tcp unix --budget 20 -o report")
    assert done.returncode == 0, done.stderr
    assert all(f"\n{target} " in done.stdout for target in ("shm", "tcp", "unix"))


def test_mpi_says_what_it_needs(run):
    done = run("chiplog measure mpi -o mpi.jsonl")
    assert done.returncode == 2
    assert "install one" in done.stderr
    assert "C++20 compiler" in done.stderr
    assert len(done.stderr.splitlines()) == 1
