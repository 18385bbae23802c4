"""The one way in which a result gets into a file: all of it, or nothing, so that no failure costs the old file."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from chiplog.errors import RunFailed
from chiplog.file_lock import refuse_locked

STANDARD_OUTPUT = "-"
FULL = (errno.ENOSPC, errno.EDQUOT)
NO_SYNC = (errno.EINVAL, errno.EROFS, errno.ENOTSUP)
"""What file systems say that can't be told to put a file on the disk."""

NO_FOLDER = {errno.ENOENT, errno.ENOTDIR}
"""What they say where the folder of a new file is missing."""
Path_ = str | os.PathLike[str]


@contextlib.contextmanager
def replacing(path: Path_) -> Iterator[BinaryIO]:
    """A stream whose content takes the place of the file at `path` once all of it is on the disk.

    `-` is standard output. A FIFO, a device or /dev/stdout is written as it is. Where `path` is a link, the file that
    it leads to is replaced; a file that is replaced keeps its permissions.

    Raises RunFailed where the file can't be written, and where another process is writing it; the old file is then as
    it was.
    """
    name = os.fspath(path)
    try:
        with _stream(name) as stream:
            yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise failed(name, error) from error


def refuse_unwritable(path: Path_) -> None:
    """Raises RunFailed, as `replacing` would, where no file can be made at `path`: before the work that it is for."""
    name = os.fspath(path)
    if name == STANDARD_OUTPUT or _descriptor(name) is not None:
        return
    try:
        target, old = _target(name)
        if old is None or stat.S_ISREG(old.st_mode):
            descriptor, temporary = _made_beside(target, old)
            os.close(descriptor)
            os.unlink(temporary)
        elif stat.S_ISDIR(old.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    except OSError as error:
        raise failed(name, error) from error


def write_files(contents: Mapping[Path, str]) -> None:
    """Writes whole text files; none of them is replaced before all are on the disk. Raises as `replacing`."""
    with contextlib.ExitStack() as stack:
        for path, text in contents.items():
            stream = stack.enter_context(replacing(path))
            # A file's name may hold bytes that are no text: they must not cost the rest.
            stream.write(text.encode("utf-8", "replace"))
            stream.flush()
            synchronise(stream.fileno())


def write_text(path: Path_, text: str) -> None:
    """Writes a whole text file; raises as `replacing`."""
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "replace"))


def is_standard_output(path: Path_ | None) -> bool:
    """Whether an output goes to standard output, so that nothing else should."""
    if path is None:
        return False
    name = os.fspath(path)
    return name == STANDARD_OUTPUT or _descriptor(name) == 1


def failed(name: str, error: OSError, kept: str = "") -> RunFailed:
    """The error of an output that can't be written: what is full, and what was `kept`."""
    said = error.strerror or str(error)
    folder = os.path.dirname(name)
    if os.path.islink(name) or os.path.islink(folder):
        folder = os.path.dirname(os.path.realpath(name))
    if folder and error.errno in NO_FOLDER and not os.path.isdir(folder):
        is_file = os.path.lexists(folder)
        said = (
            f"{folder} is no folder, so name another file"
            if is_file
            else f"there is no folder {folder}, so make it first"
        )
    if error.errno in FULL and name != STANDARD_OUTPUT:
        said += f" (the file system at {_mount_point(name)} is full: make room there)"
    shown = "standard output" if name == STANDARD_OUTPUT else name or "''"
    is_kept = name != STANDARD_OUTPUT and os.path.isfile(name)
    kept = kept or ("; the old file is as it was" if is_kept else "")
    return RunFailed(f"{shown} can't be written: {said}{kept}.")


def _mount_point(name: str) -> str:
    folder = os.path.realpath(name)
    while not os.path.ismount(folder):
        folder = os.path.dirname(folder)
    return folder


def synchronise(descriptor: int) -> None:
    """Waits until an open file, or a folder, is on the disk; OSError where it can't be put there."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise


def _descriptor(name: str) -> int | None:
    """Standard output (1) or standard error (2), where `name` is that under a name such as /dev/stdout."""
    try:
        given = os.stat(name)
    except OSError:
        return None
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(given, os.fstat(descriptor)):
                return descriptor
    return None


@contextlib.contextmanager
def _stream(name: str) -> Iterator[BinaryIO]:
    descriptor = _descriptor(name)
    target, old = _target(name)
    if name == STANDARD_OUTPUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif descriptor is not None:
        sys.stdout.flush()
        with open(os.dup(descriptor), "wb") as stream:
            yield stream
    elif old is None or stat.S_ISREG(old.st_mode):
        with _temporary(target, old) as stream:
            yield stream
    else:
        with open(name, "wb") as stream:
            yield stream


def _target(name: str) -> tuple[str, os.stat_result | None]:
    """The path of the file that `name` leads to, and the file that is there, if there is one."""
    target = os.path.realpath(name)
    try:
        return target, os.stat(target)
    except FileNotFoundError:
        return target, None


def _made_beside(target: str, old: os.stat_result | None) -> tuple[int, str]:
    """A descriptor of a new file in the folder of `target`, and its path."""
    if old is not None:
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), target)
        refuse_locked(target)
    name = f".chiplog-{os.getpid()}-{os.urandom(8).hex()}.tmp"
    temporary = os.path.join(os.path.dirname(target), name)
    # Given: the permissions that the umask leaves.
    return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), temporary


@contextlib.contextmanager
def _temporary(target: str, old: os.stat_result | None) -> Iterator[BinaryIO]:
    """A file beside `target`, which takes its name in the end, or is removed."""
    descriptor, temporary = _made_beside(target, old)
    try:
        with open(descriptor, "wb") as stream:
            if old is not None:
                _keep_permissions(descriptor, old)
            yield stream
            stream.flush()
            synchronise(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    synchronise_folder(os.path.dirname(target))


def _keep_permissions(descriptor: int, old: os.stat_result) -> None:
    """Gives a file the owner of the old one, where this process may, and its permissions."""
    with contextlib.suppress(OSError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def synchronise_folder(folder: Path_) -> None:
    """Waits until a folder's entries are on the disk, where its file system can say so."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(number)
        finally:
            os.close(number)
