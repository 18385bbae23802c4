"""One writer a file: a lock that ends with the process, and who holds it.

It is flock's, which the kernel takes back however a process ends, and which NFS hands on to its server.
"""

from __future__ import annotations

import errno
import fcntl
import os
import warnings
from pathlib import Path

from chiplog.errors import NotLocked, RunFailed

LOCKS = Path("/proc/locks")
PROCESSES = Path("/proc")
HELD = (errno.EAGAIN, errno.EACCES)


def open_locked(path: str | os.PathLike[str], flags: int) -> int:
    """Opens a file whose only writer this process then is, until the descriptor is closed.

    Raises OSError where it can't be opened, and RunFailed, naming who writes it already. Warns, with NotLocked, where
    its file system has no locks.
    """
    while True:
        descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)  # Given
        try:
            _lock(descriptor, path)
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # another file has taken its name meanwhile


def _lock(descriptor: int, path: str | os.PathLike[str]) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in HELD:
            raise _held(descriptor, path) from None
        name = os.fspath(path)
        warnings.warn(
            f"{name} can't be locked on its file system ({error.strerror}): let no other chiplog write it meanwhile.",
            NotLocked,
            stacklevel=3,
        )


def refuse_locked(path: str | os.PathLike[str]) -> None:
    """Raises RunFailed, naming the writer, where a process holds the lock of a file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return  # what can't be opened is said by whoever needs it
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in HELD:
            raise _held(descriptor, path) from None
    finally:
        os.close(descriptor)


def _held(descriptor: int, path: str | os.PathLike[str]) -> RunFailed:
    host = os.uname().nodename
    number = _holder(os.fstat(descriptor).st_ino)
    who = (
        f"a process on another host or in another container than this one of {host}"
        if number is None
        else f"process {number} ({_command(number)}) on {host}"
    )
    return RunFailed(f"{os.fspath(path)} is being written by {who}; wait until it ends, or end it.")


def _holder(inode: int) -> str | None:
    """The number of the process that locks a file, of those that can be seen from here."""
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return None
    for line in lines:  # 1: FLOCK  ADVISORY  WRITE 4711 08:01:123456 0 EOF
        words = line.split()
        if words[1:4:2] == ["FLOCK", "WRITE"] and words[5].endswith(f":{inode}"):
            return words[4] if int(words[4]) > 0 else None
    return None


def _command(number: str) -> str:
    """What a process is, in two words: chiplog measure."""
    try:
        raw = (PROCESSES / number / "cmdline").read_bytes()
    except OSError:
        return "whose name can't be read"
    words = [os.path.basename(one) for one in raw.decode(errors="replace").split("\0")]
    if "chiplog" in words:
        return " ".join(words[words.index("chiplog") :][:2])
    return words[0]
