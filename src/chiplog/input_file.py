"""Opens the files that a user names."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO

from chiplog.errors import RunFailed, UsageError


@contextlib.contextmanager
def open_input(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The file at `path` for reading; UsageError where it can't be opened, RunFailed where it can't be read."""
    try:
        stream = open(path, "rb")  # noqa: SIM115  # closed below, after other errors than its own
    except OSError as error:
        raise UsageError(f"{os.fspath(path)} can't be opened: {error.strerror}.") from error
    with stream:
        try:
            yield stream
        except OSError as error:
            raise RunFailed(f"{os.fspath(path)} can't be read: {error.strerror}.") from error
