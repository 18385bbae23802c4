"""Packages outside the tree: how they are installed, and how commands run beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from command import Finished, chiplog

PACKAGES = Path(__file__).parent.parent / "packages"


def install(package: str, source: Path, folder: Path) -> Path:
    """Copies one of `tests/packages` to `source`, installs it into `folder` by pip, and returns `folder`."""
    shutil.copytree(PACKAGES / package, source, dirs_exist_ok=True)
    options = ("--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target")
    finished = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, str(folder), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return folder


def write_package(folder: Path, name: str, content: str, entry_points: str) -> Path:
    """A package of one module in `folder`, as if it were installed there."""
    (folder / f"{name}.py").write_text(content)
    metadata = folder / f"{name}-1.dist-info"
    metadata.mkdir(parents=True)
    dashed = name.replace("_", "-")
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dashed}\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(entry_points)
    return folder


def with_package(folder: Path, *arguments: object) -> Finished:
    """`chiplog` with `arguments` where the packages in `folder` are installed."""
    found = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return chiplog(*arguments, environment={"PYTHONPATH": found})
