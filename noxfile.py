"""What `make` does not run each time: every Python, the lowest dependencies, the package as installed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import nox

nox.options.sessions = ["tests"]
BUILD = ("scikit-build-core>=0.11", "nanobind>=2.4", "nlohmann-json>=3.11", "cmake>=3.25", "ninja")


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The tests with the latest dependencies, against the installed package."""
    session.install(".[test]")
    session.run("pytest", *session.posargs)


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """The tests with the lowest versions that pyproject.toml allows."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    lowest_versions = [re.sub(">=", "==", needed) for needed in project["dependencies"]]
    session.install(*lowest_versions, *project["optional-dependencies"]["test"])
    session.install("--no-deps", ".")
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """What `make lint` checks."""
    session.install(*BUILD)
    session.install(".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")
    session.run("codespell")


@nox.session
def wheel(session: nox.Session) -> None:
    """A wheel built in isolation, installed elsewhere, measures."""
    session.install("build")
    directory = session.create_tmp()
    session.run("python", "-m", "build", "--wheel", "--outdir", directory)
    session.install("--find-links", directory, "--no-index", "--no-deps", "chiplog")
    session.install("chiplog", "--find-links", directory)
    session.run("chiplog", "measure", "sim", "--sizes", "1:64", "-o", f"{directory}/run.jsonl")
