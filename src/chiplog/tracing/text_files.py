"""Text files of traces, plain or packed by gzip, one a rank."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from chiplog.errors import CorruptFile
from chiplog.input_file import MOST_DATA_BYTES, open_input, read_line

MOST_LINE_BYTES = 16 << 20
GZIP_MAGIC = b"\x1f\x8b"
GZIP_BITS = 31
"""Given: what zlib calls gzip with the largest window."""
HEAD_BYTES = 4096
"""Given: bytes of a file by which it is known."""


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file with their numbers, from 1 on, without their ends; errors as of `lines_and_ends`."""
    for number, line, _ in lines_and_ends(path):
        yield number, line


def lines_and_ends(path: Path) -> Iterator[tuple[int, str, bool]]:
    """The same, and whether the line has an end: the last one has none where the program ended while it wrote.

    Characters that are no ASCII are replaced. CorruptFile where the file is cut, too long, or no text.
    """
    with open_input(path) as stream:
        packed = stream.peek(2)[:2] == GZIP_MAGIC
        text = io.BufferedReader(gzip.GzipFile(fileobj=stream)) if packed else stream
        length, number = 0, 0
        try:
            while line := read_line(text, MOST_LINE_BYTES):
                number += 1
                length += len(line)
                if b"\0" in line or len(line) > MOST_LINE_BYTES:
                    raise CorruptFile(f"{path}, line {number}: is no text, or longer than 16 MiB.")
                if length > MOST_DATA_BYTES:
                    raise CorruptFile(f"{path}: holds more than 1 GiB, the most that is read here.")
                text_of_line = line.decode("ascii", "replace").rstrip("\r\n")
                yield number, text_of_line, line.endswith(b"\n")
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise CorruptFile(
                f"{path}, line {number + 1}: the packed file is damaged or cut."
            ) from error


def head_of(path: Path) -> str:
    """The beginning of a text file; empty where it is no file, or can't be read."""
    if not path.is_file():
        return ""
    try:
        with open(path, "rb") as stream:
            raw = stream.read(HEAD_BYTES)
        if raw[:2] == GZIP_MAGIC:
            raw = zlib.decompressobj(GZIP_BITS).decompress(raw, HEAD_BYTES)
    except (OSError, zlib.error):
        return ""
    return raw.decode("ascii", "replace")


def files_of_ranks(place: Path, pattern: re.Pattern[str]) -> dict[int, Path]:
    """The files whose names `pattern` matches, by the rank that is its group "rank".

    `place` is their folder, or one of them. CorruptFile where two are of one rank.
    """
    folder = place if place.is_dir() else place.parent
    found: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        match = pattern.fullmatch(path.name)
        if match is None or not path.is_file():
            continue
        rank = int(match["rank"])
        if rank in found:
            raise CorruptFile(f"{path} and {found[rank].name} are both of rank {rank}.")
        found[rank] = path
    return found


def all_ranks_there(files: dict[int, Path], place: Path) -> list[Path]:
    """The files in the order of ranks; CorruptFile where one is missing."""
    missing = next((rank for rank in range(max(files) + 1) if rank not in files), None)
    if missing is not None:
        raise CorruptFile(
            f"{place}: the file of rank {missing} is missing, but there is one of rank {max(files)}."
        )
    return [files[rank] for rank in range(len(files))]
