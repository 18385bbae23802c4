"""Checks each file that packages chiplog by its tool, and says which tools are missing: python packaging/check.py."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "packaging"


class ToolMissing(Exception):
    """A tool that is not here; its text says how to get it."""


def module(name: str, package: str) -> Any:
    """The Python module of a tool."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ToolMissing(f"{name} is not installed (pip install {package})") from error


def run(program: str, how: str, *words: str | Path, **environment: str) -> str:
    """Runs a program in an empty folder; how it comes here is said where it is missing. Returns what it says."""
    path = shutil.which(program)
    if path is None:
        raise ToolMissing(f"{program} is not installed ({how})")
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [path, *map(str, words)],
            cwd=ROOT,
            env={**os.environ, "HOME": home, **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
    if done.returncode:
        raise AssertionError(f"{program} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def conda() -> str:
    """rattler-build renders the recipe."""
    rattler = module("rattler_build", "py-rattler-build")
    recipe = rattler.Stage0Recipe.from_file(FOLDER / "conda" / "recipe.yaml")
    variants = {"cxx_compiler": ["gxx"], "c_stdlib": ["sysroot"], "python": ["3.12.*"]}
    (rendered,) = recipe.render(rattler.VariantConfig(variants))
    return str(rendered)


def easybuild() -> str:
    """EasyBuild parses the easyconfig, whose name must be that of its file."""
    module("easybuild.framework", "easybuild-framework")
    (file,) = (FOLDER / "easybuild").glob("*.eb")
    program = (
        "import sys; from easybuild.tools.options import set_up_configuration as set_up;"
        "set_up(args=['--allow-use-as-root-and-accept-consequences'], silent=True);"
        "from easybuild.framework.easyconfig.parser import EasyConfigParser as Parser;"
        "c = Parser(sys.argv[1]).get_config_dict();"
        "print('{}-{}-{}-{}.eb'.format(c['name'], c['version'], *c['toolchain'].values()))"
    )
    name = run(sys.executable, "", "-c", program, file).splitlines()[-1]
    assert name == file.name, f"{file.name} describes {name}"
    return name


def reframe() -> str:
    """ReFrame loads the library test and lists what it finds."""
    file = FOLDER / "reframe" / "chiplog_ratios.py"
    listed = run("reframe", "pip install reframe-hpc", "-c", file, "-l")
    assert "Found 1 check(s)" in listed, listed
    return "1 check"


def ramble() -> str:
    """Ramble loads the application."""
    how = "a checkout of Ramble, its bin on PATH"
    with tempfile.TemporaryDirectory() as home:
        run("ramble", how, "repo", "add", FOLDER / "ramble", HOME=home)
        shown = run("ramble", how, "info", "chiplog", HOME=home)
    assert "half_round_trip" in shown, shown
    return "1 application"


def spack() -> str:
    """Spack loads the recipe."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "spack_repo" / "chiplog_check"
        shutil.copytree(FOLDER / "spack", repository / "packages" / "chiplog")
        (repository / "repo.yaml").write_text("repo:\n  namespace: chiplog_check\n  api: v2.0\n")
        setting = f"repos:chiplog_check:{repository}"
        how = "a checkout of Spack 1.0 or later, its bin on PATH"
        # Spack's own recipes are kept in the home directory.
        home = os.environ.get("HOME", "/")
        return run("spack", how, "-c", setting, "info", "chiplog", HOME=home).splitlines()[0]


def wheels() -> str:
    """The wheels that cibuildwheel would build, for both processors."""
    built = ""
    for architecture in ("x86_64", "aarch64"):
        words = ("--platform", "linux", "--archs", architecture, "--print-build-identifiers")
        built += run("cibuildwheel", "pip install cibuildwheel", *words)
    assert len(built.split()) == 6, built
    return " ".join(built.split())


def workflows() -> str:
    """The workflows have no errors for actionlint."""
    run("actionlint", "with Go, CI=true make packages installs it")
    return f"{len(list((ROOT / '.github' / 'workflows').glob('*.yml')))} workflows"


def dashboard() -> str:
    """Each query of the dashboard is PromQL."""
    promql = module("promql_parser", "promql-parser")
    panels = json.loads((FOLDER / "grafana" / "chiplog.json").read_text())["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    for query in queries:
        promql.parse(query)
    return f"{len(queries)} queries"


INSTRUCTIONS = {
    "FROM",
    "ARG",
    "ENV",
    "COPY",
    "RUN",
    "WORKDIR",
    "USER",
    "LABEL",
    "ENTRYPOINT",
    "CMD",
}
"""Those that a Containerfile of ours may have."""


def container() -> str:
    """The Containerfile has known instructions only, and Debian has its packages."""
    lines = (FOLDER / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#")]
    unknown = {step[0] for step in steps} - INSTRUCTIONS
    assert not unknown, f"no instruction: {' '.join(unknown)}"
    text = " ".join(words for instruction, words in steps if instruction == "RUN")
    packages = re.findall(r"--no-install-recommends ([^&]+)", text)
    names = " ".join(packages).split()
    known = run("apt-cache", "a Debian system", "show", "--no-all-versions", *names)
    missing = [name for name in names if f"Package: {name}\n" not in known]
    assert not missing, f"Debian has no {' '.join(missing)}"
    return f"{len(steps)} steps, {len(set(names))} packages"


CHECKS: tuple[Callable[[], str], ...] = (
    *(conda, easybuild, reframe, ramble, spack),
    *(wheels, workflows, dashboard, container),
)


def main() -> int:
    """The exit code: 1 where a check failed."""
    failed = False
    for check in CHECKS:
        try:
            result = f"ok: {check()}"
        except ToolMissing as missing:
            result = f"skipped: {missing}"
        except Exception as error:
            result = f"failed: {error}"
            failed = True
        print(f"{check.__name__:<10} {result}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
