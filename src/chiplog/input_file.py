"""Opens and reads the files that a user names: a file, of bounded length, and text where text is wanted."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from typing import BinaryIO

from chiplog.errors import CorruptFile, RunFailed, UsageError

MOST_TEXT_BYTES = 64 << 20
"""Longest file of settings, rules or declarations that is read."""
MOST_DATA_BYTES = 1 << 30
"""Longest file of measured times that is read into memory, unpacked."""
PIECE_BYTES = 1 << 20
"""What is read before it is looked at."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


MOST_NAMED = 3
"""Given: files that are named where several are left out; the others are counted."""
OF_THE_SHELL = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""What a shell opened already, as `<(command)` does: there a pipe has a writer."""


@contextlib.contextmanager
def open_input(
    path: str | os.PathLike[str], most_bytes: int | None = None
) -> Iterator[BufferedReader]:
    """The file at `path` for reading.

    UsageError where it can't be opened or is no file, so that reading might never end; CorruptFile where it is longer
    than `most_bytes`; RunFailed where it can't be read.
    """
    name = os.fspath(path)
    try:
        stream = os.fdopen(_opened(name), "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no file has such a name"
        raise UsageError(f"{name} can't be opened: {reason}.") from error
    with stream:
        if most_bytes is not None:
            _refuse_longer(os.fstat(stream.fileno()).st_size, most_bytes, name)
        try:
            yield stream
        except OSError as error:
            raise RunFailed(f"{name} can't be read: {error.strerror}.") from error


def _opened(name: str) -> int:
    """A descriptor of the file; UsageError for a folder, a pipe, a device or a socket."""
    descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and name.startswith(OF_THE_SHELL)):
        os.set_blocking(descriptor, True)
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise UsageError(f"{name} is a folder, but a file is needed here: name {_files_in(name)}.")
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
    raise UsageError(f"{name} is {kind}, but a file is needed here: write its content to one.")


def _files_in(folder: str) -> str:
    """The first files of a folder, as words of a sentence."""
    with contextlib.suppress(OSError):
        paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        files = [path for path in paths if os.path.isfile(path)]
        if files:
            return f"one in it, such as {' or '.join(files[:MOST_NAMED])}"
    return "one"


def read_bounded(stream: BinaryIO, name: str, most_bytes: int) -> bytes:
    """The text that is left of a stream; CorruptFile where it is longer than `most_bytes`, or no text.

    That is said as soon as it is seen, so that neither a long file nor one of zeros is taken into memory.
    """
    pieces: list[bytes] = []
    length = 0
    zero = b"\0"
    while piece := stream.read(PIECE_BYTES):
        if not pieces and piece.startswith(UTF_16):
            zero = b"\0\0\0"
        pieces.append(piece)
        length += len(piece)
        _refuse_longer(length, most_bytes, name)
        if zero in piece:
            before = b"".join(pieces)
            line = before.count(b"\n", 0, before.index(zero)) + 1
            raise CorruptFile(f"{name}, line {line}: the file holds a zero byte: it is no text")
    return b"".join(pieces)


def _refuse_longer(length_bytes: int, most_bytes: int, name: str) -> None:
    """CorruptFile where a file is longer than what is read."""
    if length_bytes > most_bytes:
        raise CorruptFile(
            f"{name}, line 1: the file holds {length_bytes} B or more, and at most {most_bytes >> 20} MiB are read here"
        )


def read_text(path: str | os.PathLike[str], most_bytes: int = MOST_TEXT_BYTES) -> str:
    """A text file in UTF-8; CorruptFile where it is none or too long, and errors as of `open_input`."""
    name = os.fspath(path)
    with open_input(path, most_bytes) as stream:
        content = read_bounded(stream, name, most_bytes)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CorruptFile(
            f"{name}, line {line}: byte {error.start} of the file is not UTF-8"
        ) from None


def read_line(stream: BinaryIO, most_bytes: int) -> bytes:
    """The next line; a longer one, or one of zeros, ends early, so that it is not taken into memory as a whole."""
    pieces: list[bytes] = []
    length = 0
    while length <= most_bytes and (piece := stream.readline(PIECE_BYTES)):
        pieces.append(piece)
        length += len(piece)
        if piece.endswith(b"\n") or b"\0" in piece:
            break
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
