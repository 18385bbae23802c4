"""What packaging/ reads of chiplog's output is there, and what it names exists; `make packages` checks the rest."""

from __future__ import annotations

import ast
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml
from command import chiplog
from verdict_by_hand import verdict_of

from chiplog.machine_survey.operators.prometheus import prometheus_text

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
NETWORK = "sim:L=5us,o=1us,g=2us,G=0.5ns"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of `chiplog measure --fom`."""
    run = tmp_path_factory.mktemp("figures") / "run.jsonl"
    words = ("--pattern", "ping_pong,flood", "--sizes", "8,1MiB", "--no-refine", "--fom")
    done = chiplog("measure", NETWORK, *words, "-o", run)
    assert done.code == 0, done.stderr
    return done.stdout.splitlines()


class Directives(ModuleType):
    """A module whose functions note how they were called, as those of Ramble's and Spack's languages."""

    def __init__(self, name: str, *classes: str) -> None:
        super().__init__(name)
        self.calls: dict[str, list[dict[str, Any]]] = {}
        self.__all__ = [*classes]
        for class_name in classes:
            setattr(self, class_name, type(class_name, (), {}))

    def provide(self, *names: str) -> None:
        for name in names:
            setattr(self, name, self._noting(name))
        self.__all__ += names

    def _noting(self, directive: str) -> Callable[..., Callable[[Any], Any]]:
        def note(*positional: Any, **named: Any) -> Callable[[Any], Any]:
            self.calls.setdefault(directive, []).append({"": positional, **named})
            return lambda method: method

        return note


def called_names(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


@pytest.fixture
def ramble(monkeypatch: pytest.MonkeyPatch) -> Directives:
    path = PACKAGING / "ramble" / "applications" / "chiplog" / "application.py"
    appkit = Directives("ramble.appkit", "ExecutableApplication")
    appkit.provide(*called_names(path))
    monkeypatch.setitem(sys.modules, "ramble", ModuleType("ramble"))
    monkeypatch.setitem(sys.modules, "ramble.appkit", appkit)
    runpy.run_path(str(path))
    return appkit


def test_ramble_finds_its_figures_by_message_size(ramble: Directives, figures: list[str]) -> None:
    (context,) = ramble.calls["figure_of_merit_context"]
    found = {}
    for line in figures:
        size = re.match(context["regex"], line)
        assert size, line
        for figure in ramble.calls["figure_of_merit"]:
            if match := re.match(figure["fom_regex"], line):
                pattern = line.split(".")[1]
                key = (pattern, context["output_format"].format(**size.groupdict()), figure[""][0])
                found[key] = float(match[figure["group_name"]])
                assert line.endswith(f" {figure['units']}")
    assert found["ping_pong", "8 B", "half_round_trip"] == pytest.approx(7.0035)
    assert found["ping_pong", "1048576 B", "bandwidth"] == pytest.approx(1975, rel=0.01)
    assert found["flood", "8 B", "gap"] == pytest.approx(2.0035, rel=1e-3)
    (success,) = ramble.calls["success_criteria"]
    assert any(re.match(success["match"], line) for line in figures)
    assert not re.match(success["match"], "chiplog: tcp: no peer was reached.")


def test_ramble_starts_a_command_that_chiplog_understands(
    ramble: Directives, tmp_path: Path
) -> None:
    (measure,) = ramble.calls["executable"]
    defaults = {call[""][0]: call["default"] for call in ramble.calls["workload_variable"]}
    given = {**defaults, "target": NETWORK, "sizes": "8", "experiment_run_dir": str(tmp_path)}
    program, *words = shlex.split(measure[""][1].format(**given))
    assert program == "chiplog"
    done = chiplog(*words)
    assert done.code == 0 and "sim.flood.8B.gap" in done.stdout, done.stderr


def test_the_smoke_test_of_spack_passes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = PACKAGING / "spack" / "package.py"
    language = Directives("spack.package")
    system = Directives("spack_repo.builtin.build_systems.python", "PythonPackage")
    language.provide(*called_names(path), "run_before", "run_after")
    language.join_path = os.path.join

    def executable(program: str) -> Callable[..., str]:
        assert program == "/prefix/bin/chiplog"

        def run(*words: str, output: object) -> str:
            return chiplog(*words).stdout

        return run

    language.Executable = executable
    for module in (ModuleType("spack"), language, system):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for parent in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    package = runpy.run_path(str(path))["Chiplog"]()
    package.prefix = SimpleNamespace(bin="/prefix/bin")
    monkeypatch.chdir(tmp_path)
    package.test_simulated_network()


def checks_in_shell() -> Iterator[tuple[str, str]]:
    recipe = (PACKAGING / "conda" / "recipe.yaml").read_text()
    *_, test = yaml.safe_load(recipe.replace("${{ version }}", "1"))["tests"]
    yield "conda", "\n".join(test["script"])
    (easyconfig,) = (PACKAGING / "easybuild").glob("*.eb")
    tree = ast.parse(easyconfig.read_text())
    values = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]
    yield "easybuild", "\n".join(ast.literal_eval(values["sanity_check_commands"]))
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    yield "wheels", settings["tool"]["cibuildwheel"]["test-command"]


@pytest.mark.parametrize("name", ["conda", "easybuild", "wheels"])
def test_what_a_package_runs_to_check_itself_passes(name: str, tmp_path: Path) -> None:
    script = f"set -e\n{dict(checks_in_shell())[name]}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def environment(folder: Path) -> dict[str, str]:
    """With a `chiplog` on PATH that is the one under test."""
    program = folder / "bin" / "chiplog"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m chiplog "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(folder)}


def test_reframe_holds_ratios_against_references(tmp_path: Path) -> None:
    reframe = shutil.which("reframe", path=str(Path(sys.executable).parent))
    if reframe is None:
        pytest.skip("reframe is not installed (pip install reframe-hpc)")
    around = environment(tmp_path)

    def run(target: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                *(reframe, "-c", str(PACKAGING / "reframe" / "chiplog_ratios.py"), "-r"),
                *("-S", f"target={target}", "-S", f"baseline={NETWORK}"),
                *("--prefix", str(tmp_path), "--performance-report"),
            ],
            cwd=tmp_path,
            env=around,
            capture_output=True,
            text=True,
            timeout=100,
        )

    same = run(NETWORK)
    assert same.returncode == 0, same.stdout + same.stderr
    assert "latency_ratio" in same.stdout and "bandwidth_ratio" in same.stdout
    slow = run(NETWORK.replace("L=5us", "L=50us"))
    assert slow.returncode != 0 and "latency_ratio" in slow.stdout, slow.stdout


def test_each_query_of_the_dashboard_asks_for_a_metric_that_is_written() -> None:
    written = set(re.findall(r"^# TYPE (\S+) ", prometheus_text(verdict_of()), re.MULTILINE))
    dashboard = json.loads((PACKAGING / "grafana" / "chiplog.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += [variable["query"] for variable in dashboard["templating"]["list"]]
    asked = set(re.findall(r"\bchiplog_\w+", " ".join(queries)))
    assert asked == written
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_known_keys_and_make_targets_that_exist(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert {"name", True, "permissions", "jobs"} <= set(workflow), "YAML reads `on` as true"
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for job in workflow["jobs"].values():
        assert ("uses" in job) != ("runs-on" in job)
        for step in job.get("steps", ()):
            assert ("uses" in step) != ("run" in step), step
            for command in step.get("run", "").splitlines():
                if command.startswith("make "):
                    assert command.split()[1] in targets, command
                for script in re.findall(r"\.ci/\S+", command):
                    assert os.access(ROOT / script, os.X_OK), command


def citation(text: str) -> dict[str, Any]:
    """The citation, of which all that a reference needs is there."""
    cited: dict[str, Any] = yaml.safe_load(text)
    assert cited["cff-version"] == "1.2.0"
    assert {"title", "message", "authors", "license", "abstract"} <= set(cited)
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(cited["date-released"]))
    return cited


def test_the_citation_has_the_version_of_the_recipes() -> None:
    recipe = yaml.safe_load((PACKAGING / "conda" / "recipe.yaml").read_text())
    cited = citation((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == recipe["context"]["version"]


def test_a_release_cites_itself_with_its_version_its_day_and_its_address() -> None:
    command = [str(ROOT / ".ci" / "citation"), "v9.9.9", "https://example.org/chiplog"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    cited = citation(done.stdout)
    assert (cited["version"], cited["repository-code"]) == ("9.9.9", command[2])
    assert done.stdout.count("date-released") == 1


@pytest.mark.parametrize(("version", "expected"), [("v9.9.9", "unreleased"), ("v0.2.0", "second")])
def test_the_notes_of_a_release_are_cut_from_the_changelog(
    tmp_path: Path, version: str, expected: str
) -> None:
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(ROOT / ".ci" / "release-notes", tmp_path / ".ci")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n- unreleased\n\n## [0.2.0] - 2026-11-29\n\n- second\n\n"
        "## [0.1.0]\n\n- first\n"
    )
    done = subprocess.run([script, version], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout.strip()) == (0, f"- {expected}")


def test_the_page_leads_to_each_file() -> None:
    page = (ROOT / "docs" / "how-to" / "package.md").read_text()
    folders = {
        path.name for path in PACKAGING.iterdir() if path.name not in ("check.py", "__pycache__")
    }
    assert all(f"packaging/{name}" in page for name in folders), folders
    assert all(path.name in page for path in WORKFLOWS)
