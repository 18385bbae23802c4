"""Opens the files that others made: regular ones only, so that nobody waits for a pipe that nothing writes to."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from chiplog.errors import CorruptFile, RunFailed, UsageError

MOST_NAMED = 3
"""Files that are named where several are left out; the others are counted."""
OF_THE_SHELL = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""What a shell opened already, as `<(command)` does: there a pipe has a writer."""


@contextlib.contextmanager
def open_input(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The file at `path` for reading; UsageError where it can't be opened, RunFailed where it can't be read."""
    name = os.fspath(path)
    try:
        stream = os.fdopen(_regular(name), "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no file has such a name"
        raise UsageError(f"{name} can't be opened: {reason}.") from error
    with stream:
        try:
            yield stream
        except OSError as error:
            raise RunFailed(f"{name} can't be read: {error.strerror}.") from error


def _regular(name: str) -> int:
    """A descriptor of the file; OSError where it is no regular file."""
    descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and name.startswith(OF_THE_SHELL)):
        os.set_blocking(descriptor, True)
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(0, "it is a folder")
    raise OSError(0, "it is a pipe, a socket or a device, not a regular file")


def read_text(path: str | os.PathLike[str], most_bytes: int = 256 << 20) -> str:
    """The text of a file in UTF-8; errors as of `open_input`, CorruptFile where it is too long or no such text."""
    with open_input(path) as stream:
        content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise CorruptFile(f"{os.fspath(path)}: the file is longer than {most_bytes >> 20} MiB.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CorruptFile(
            f"{os.fspath(path)}, line {line}: byte {error.start} of the file is not UTF-8."
        ) from None
