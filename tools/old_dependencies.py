"""Which Python packages that chiplog names have become old: `make old`.

Asks the package index that pip is configured with. A package is old when its newest release is, or when
pyproject.toml does not allow it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version
from pip._internal.models.index import PyPI

ROOT = Path(__file__).parent.parent
OLD_DAYS = 540
"""Well-kept packages that are complete, such as click-man, release about once a year."""
FORMAT = "application/vnd.pypi.simple.v1+json"
TIMEOUT_S = 60


class Release(NamedTuple):
    """A version that is neither withdrawn nor for trial only, and when it appeared."""

    version: Version
    day: datetime


def requirements(root: Path) -> list[Requirement]:
    """All that pyproject.toml names, each once, by name."""
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    project = settings["project"]
    texts = [*project["dependencies"], *settings["build-system"]["requires"]]
    for extra in project["optional-dependencies"].values():
        texts += extra
    named = {requirement.name: requirement for requirement in map(Requirement, reversed(texts))}
    return [named[name] for name in sorted(named)]


def newest(answer: dict[str, list[dict[str, str]]]) -> Release:
    """The newest release in what an index answers."""
    return max(_releases(answer["files"]), key=lambda release: release.version)


def _releases(files: list[dict[str, str]]) -> Iterator[Release]:
    for file in files:
        parse = parse_wheel_filename if file["filename"].endswith(".whl") else parse_sdist_filename
        try:
            version = parse(file["filename"])[1]
        except (InvalidSdistFilename, InvalidWheelFilename):
            continue  # an egg or an installer of old times
        if not (version.is_prerelease or file.get("yanked")):
            yield Release(version, datetime.fromisoformat(file["upload-time"]))


def state(requirement: Requirement, release: Release, today: datetime) -> str:
    """What is old about it; empty where nothing is."""
    days = (today - release.day).days
    if not requirement.specifier.contains(release.version):
        return f"not allowed: {requirement.specifier}"
    return f"no release for {days / 30.4:.0f} months" if days > OLD_DAYS else ""


def _index() -> str:
    """The address of the index that pip asks."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    given = dict(line.split("=", 1) for line in listed.splitlines() if "=" in line)
    for name in (":env:.index-url", "install.index-url", "global.index-url"):
        if name in given:
            return given[name].strip("'")
    return str(PyPI.simple_url)


def main() -> None:
    """Print all with their newest release; what is old is said at the end of its line."""
    index, today = _index().rstrip("/"), datetime.now(UTC)

    def asked(requirement: Requirement) -> str:
        request = Request(f"{index}/{requirement.name.lower()}/", headers={"Accept": FORMAT})
        with urlopen(request, timeout=TIMEOUT_S) as answer:
            release = newest(json.load(answer))
        words = state(requirement, release, today)
        return (
            f"{requirement.name:<22}{release.version!s:<12}{release.day:%Y-%m-%d}  {words}".rstrip()
        )

    with ThreadPoolExecutor(4) as several:
        print(*several.map(asked, requirements(ROOT)), sep="\n")


if __name__ == "__main__":
    main()
