"""Replacing a file that others read at any moment."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

from chiplog.errors import RunFailed

if TYPE_CHECKING:
    from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Puts a whole file in the place of the old one, so that readers see either; RunFailed where it can't be."""
    temporary = path.parent / f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        with temporary.open("x", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise RunFailed(
            f"{path} can't be written: {error.strerror}. It is as it was before."
        ) from error
