"""Where the files of a run go: into a folder of their own, by time, with links above it to those of the latest run.

Raw samples are never overwritten: each run has a new folder. `report/report.html` and the others are links that lead
into `report/latest`, so that a path in a script holds.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
from chiplog.file_kind import RUNS

LATEST = "latest"
NAMES = (RUNS, "model.json", "report.html", "report.md")
TIME = "%Y-%m-%dT%H-%M-%SZ"
"""A time as a name, UTC: it sorts, and no file system refuses it."""


def new_folder(out: Path) -> Path:
    """A new folder below `out`, with a folder for run files; RunFailed where it can't be made.

    UsageError where `out` is a file.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"-o {out}: is a file, and reports need a folder: name another one.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        folder = _unused(out, datetime.now(UTC))
        (folder / RUNS).mkdir(parents=True)
    except OSError as error:
        raise RunFailed(f"{out} can't be made: {error.strerror}.") from error
    return folder


def show_latest(out: Path, folder: Path) -> None:
    """Lets `out`/latest and the links beside it lead to the files of `folder`, which is below `out`.

    Files of these names that are no links, as chiplog 0.1 left them, move into a folder of the time that they are of.
    RunFailed where there can be no links; the files stay in `folder`.
    """
    try:
        _link(out / LATEST, folder.name)
        kept = [out / name for name in NAMES if _is_real(out / name)]
        if kept:
            of_time = max(datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in kept)
            before = _unused(out, of_time)
            before.mkdir()
            for path in kept:
                path.rename(before / path.name)
        for name in NAMES:
            _link(out / name, f"{LATEST}/{name}")
    except OSError as error:
        raise RunFailed(
            f"{out}: there can be no links to the latest run ({error.strerror}); its files are in {folder}."
        ) from error


def _unused(out: Path, time: datetime) -> Path:
    name, number = time.strftime(TIME), 1
    folder = out / name
    while folder.exists():
        number += 1
        folder = out / f"{name}-{number}"
    return folder


def _is_real(path: Path) -> bool:
    return path.exists() and not path.is_symlink()


def _link(path: Path, leads_to: str) -> None:
    """Makes the link, or turns it, at once: a reader sees the old one or the new one."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.unlink(missing_ok=True)
    new.symlink_to(leads_to)
    os.replace(new, path)
