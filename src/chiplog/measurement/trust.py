"""Which files of the cache may be run or compiled in: only those that nobody else can have written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from chiplog.errors import RunFailed

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OWNER_WRITES = 0o755
"""Given: everybody may read, its owner alone may write."""


def make_private_folder(folder: Path, cache: Path) -> None:
    """Makes `folder`, which is `cache` or below it, so that only its owner may write, whatever the umask."""
    cache.parent.mkdir(parents=True, exist_ok=True)
    below = folder.relative_to(cache).parts
    for count in range(len(below) + 1):
        cache.joinpath(*below[:count]).mkdir(mode=OWNER_WRITES, exist_ok=True)


def check_trusted(path: Path, cache: Path) -> None:
    """Raises RunFailed where others own or may write `path`, or a folder from there up to `cache`.

    A file that is not there is trusted. Others may write a folder that is sticky: they can't replace what is in it.
    """
    for part in (path, *path.parents[: len(path.relative_to(cache).parts)]):
        reason = _distrust(part)
        if reason:
            raise RunFailed(
                f"{part} {reason}, so nothing in it is run: remove it, or name a cache of your own with XDG_CACHE_HOME."
            )


def _distrust(path: Path) -> str | None:
    """What makes a file or folder one that others may have made; None where nothing does."""
    try:
        facts = path.stat()
    except OSError:
        return None
    if facts.st_uid not in (0, os.geteuid()):
        return f"belongs to user {facts.st_uid}, neither you nor root"
    is_sticky = stat.S_ISDIR(facts.st_mode) and facts.st_mode & stat.S_ISVTX
    if facts.st_mode & OTHERS_WRITE and not is_sticky:
        return "may be written by other users (chmod go-w keeps them out)"
    return None
