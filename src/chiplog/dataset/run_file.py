"""Run files: reading them whole and checked, and writing them so that nothing finished is ever lost.

A run file is JSON Lines, each with a checksum: one header, one record a request, one footer. It grows only at its end.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from chiplog.counts import counted
from chiplog.dataset.fields import Fields
from chiplog.dataset.foreign import expecting
from chiplog.dataset.lines import (
    MAX_LINE_BYTES,
    Where,
    as_object,
    checked_body,
    decode_line,
    encode_line,
    parse_record,
)
from chiplog.dataset.records import Footer, check_footer, check_header, line_type, record_series
from chiplog.dataset.series import Dataset, Series
from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.file_kind import RUN, file_in, kind_of
from chiplog.file_lock import open_locked, refuse_locked
from chiplog.input_file import open_input, read_line
from chiplog.output_file import STANDARD_OUTPUT, failed, replacing, synchronise


def read_run(path: str | os.PathLike[str], *, salvage: bool = False) -> Dataset:
    """All series of a run file, or of the only one in a folder, every line checked.

    With `salvage`, a file that was cut at its end (no footer, a torn last line) gives its whole records and says in
    `warnings` what is missing; damage before the last line is an error all the same. Series without a sample beyond
    their warm-up are left out, which `warnings` says too.

    Raises CorruptFile that names file, line and field; UsageError where the file can't be opened.
    """
    return _read(file_in(path, RUN), salvage=salvage).dataset()


@dataclass
class _Contents:
    """What was found in a run file up to its footer, end or damage."""

    path: str
    header: dict[str, object]
    series: list[Series] = field(default_factory=list)
    finished: list[int] = field(default_factory=list)
    footer: Footer | None = None
    end_of_records: int = 0
    warnings: list[str] = field(default_factory=list)

    def dataset(self) -> Dataset:
        complete = self.footer is not None and self.footer.complete
        measured = tuple(series for series in self.series if series.seconds.size)
        return Dataset(
            header=self.header,
            series=measured,
            complete=complete,
            source=self.path,
            warnings=(*self.warnings, *_left_out(self.series)),
            changes=None if self.footer is None else self.footer.changes,
        )


def _left_out(series: list[Series]) -> Iterator[str]:
    for empty in (measured for measured in series if not measured.seconds.size):
        yield (
            f"record {empty.record_id}: {empty.pattern} of {empty.message_bytes} B has no sample beyond its warm-up "
            "and is left out"
        )


def _read(path: str | os.PathLike[str], *, salvage: bool) -> _Contents:
    name = os.fspath(path)
    with expecting(RUN, path), open_input(name) as stream:
        return _read_lines(name, stream, salvage=salvage)


def _read_lines(name: str, stream: BinaryIO, *, salvage: bool) -> _Contents:
    first = read_line(stream, MAX_LINE_BYTES)
    if not first:
        raise CorruptFile(f"{name}, line 1: the file is empty; a run file begins with a header")
    where = Where(name, 1)
    header = decode_line(first, where)
    check_header(header, where)
    contents = _Contents(name, header, end_of_records=stream.tell())
    number = 1
    while line := read_line(stream, MAX_LINE_BYTES):
        number += 1
        where = Where(name, number)
        if contents.footer is not None:
            what = "there is more after the footer, which ends a run file: were two joined?"
            raise where.corrupt(None, what)
        try:
            _take(contents, line, where)
        except CorruptFile as damage:
            if stream.read(1):
                raise
            if not salvage:
                raise _cut(damage, line, where, contents) from None
            whole = counted(len(contents.finished), "record before is", "records before are")
            contents.warnings.append(f"{damage}; the {whole} whole")
            return contents
    if contents.footer is None:
        whole = counted(len(contents.finished), "whole record is", "whole records are")
        kept = f"{whole} in it"
        if not salvage:
            what = f"the file ends without a footer: it was truncated or is still being written; {kept}"
            raise Where(name, number).corrupt(None, what)
        contents.warnings.append(f"{name} ends without a footer; {kept}")
    return contents


def _cut(damage: CorruptFile, line: bytes, where: Where, contents: _Contents) -> CorruptFile:
    """The error of a last line; one without its newline was cut."""
    if line.endswith(b"\n"):
        return damage
    whole = counted(len(contents.finished), "whole record comes", "whole records come")
    what = f"the file was truncated in this line; {whole} before it"
    return where.corrupt("crc32", what)


def _decode_record(line: bytes, where: Where) -> dict[str, object]:
    return as_object(parse_record(checked_body(line, where), where), where)


def _take(contents: _Contents, line: bytes, where: Where) -> None:
    members = _decode_record(line, where)
    kind = line_type(members, where)
    if kind == "record":
        if not line.endswith(b"\n"):
            raise where.corrupt(None, "the line has no end")
        contents.series += record_series(members, where)
        contents.finished.append(Fields(members, where).integer("id"))
        contents.end_of_records += len(line)
    elif kind == "footer":
        footer = check_footer(members, where)
        if footer.records != len(contents.finished):
            before = counted(len(contents.finished), "record comes", "records come")
            what = f"says {footer.records}, but {before} before it"
            raise where.corrupt("records", what)
        contents.footer = footer
    else:
        raise where.corrupt("type", "a second header in one file")


class RunWriter:
    """A run file being written; each line reaches the operating system before the call returns.

    Made by `create` or `resume`. As a context manager it writes the footer that tells how the block ended, unless
    `finish` did: `interrupted` for KeyboardInterrupt, the error's sentence for others.
    """

    def __init__(self, path: Path, descriptor: int, end_bytes: int, finished: list[int]) -> None:
        self.path = path
        self.complete = False
        """Was the file complete already when it was opened by `resume`?"""
        self.kept: Dataset | None = None
        """What `resume` found in the file."""
        self._descriptor = descriptor
        self._end_bytes = end_bytes
        self._finished = finished
        self._closed = False
        self._elapsed_ns = 0

    @classmethod
    def create(cls, path: str | os.PathLike[str], header: Mapping[str, object]) -> RunWriter:
        """Opens the file and writes its header, before anything is measured.

        Raises UsageError where the file exists already or can't be made, and ValueError where `header` lacks what a
        run file needs.
        """
        target = Path(path)
        line = _header_line(header, target)
        writer = cls(target, _open_new(target), 0, [])
        try:
            writer._write(line)
        except BaseException:
            writer.close()
            target.unlink(missing_ok=True)  # which nothing is in
            raise
        return writer

    @classmethod
    def resume(cls, path: str | os.PathLike[str]) -> RunWriter:
        """Goes on after the last whole record of a file that was cut or ended early.

        The torn line or the footer is dropped when the next line is written. A file that is complete stays as it is
        and has `complete` true. RunFailed where another process writes it.
        """
        with open_input(path):
            pass  # it is there, and a file
        try:
            descriptor = open_locked(path, os.O_RDWR)
        except OSError as error:
            raise UsageError(f"{os.fspath(path)} can't be written: {error.strerror}.") from error
        try:
            contents = _read(path, salvage=True)
        except BaseException:
            os.close(descriptor)
            raise
        writer = cls(Path(path), descriptor, contents.end_of_records, contents.finished)
        writer.kept = contents.dataset()
        writer.complete = writer.kept.complete
        writer._closed = writer.complete
        if contents.footer is not None:
            writer._elapsed_ns = contents.footer.elapsed_ns
        return writer

    @property
    def finished(self) -> frozenset[int]:
        """The ids of the requests whose records are in the file."""
        return frozenset(self._finished)

    @property
    def records(self) -> int:
        """How many records are in the file."""
        return len(self._finished)

    def append(self, record: Mapping[str, object]) -> tuple[Series, ...]:
        """Writes one record and returns its series; CorruptFile where it is not a valid one."""
        return self.append_raw(encode_line({"type": "record", **record}))

    def append_raw(self, line: bytes | str) -> tuple[Series, ...]:
        """Writes a record line as the probe made it, after checking it, and returns its series.

        Raises CorruptFile where its checksum or its members are wrong, and RunFailed where it can't be written; the
        file then holds all records before it.
        """
        raw = (line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line).rstrip(
            b"\n"
        )
        record, series = _checked_record(raw, Where(str(self.path), self.records + 2))
        self._write(raw + b"\n")
        self._finished.append(record.integer("id"))
        self._elapsed_ns = max(self._elapsed_ns, _ended_ns(record))
        return series

    def finish(
        self,
        *,
        complete: bool,
        reason: str = "done",
        changes: Mapping[str, object] | None = None,
    ) -> None:
        """Writes the footer, waits until the file is on the disk, and closes it.

        The run lasted until the end of its last record. `changes` are the protocol changes that were decided while
        measuring.
        """
        if self._closed:
            self.close()
            return
        footer = _footer(self.records, self._elapsed_ns, complete=complete, reason=reason)
        self._write(encode_line(footer if changes is None else {**footer, "changes": changes}))
        self._synchronise()
        self.close()

    def close(self) -> None:
        """Closes the file as it is; without a footer, it counts as truncated."""
        self._closed = True
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if not self._closed:
                self._finish_after(error)
        finally:
            self.close()

    def _finish_after(self, error: BaseException | None) -> None:
        if error is None:
            self.finish(complete=True)
        elif isinstance(error, KeyboardInterrupt):
            self.finish(complete=False, reason="interrupted")
        else:
            with contextlib.suppress(RunFailed):
                self.finish(complete=False, reason=str(error) or type(error).__name__)

    def _write(self, line: bytes) -> None:
        """Puts `line` at the end of what is whole; takes back the part of it that a full disk let through."""
        if self._closed:
            raise RuntimeError(f"{self.path} is closed")
        try:
            _write_at(self._descriptor, line, self._end_bytes)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._end_bytes)
            raise self._failed(error) from error
        self._end_bytes += len(line)

    def _synchronise(self) -> None:
        try:
            synchronise(self._descriptor)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> RunFailed:
        finished = counted(self.records, "finished record is", "finished records are")
        kept = f"; the {finished} kept in it, and --resume goes on from there"
        return failed(str(self.path), error, kept if self._end_bytes else "")


def write_run(
    path: str | os.PathLike[str],
    header: Mapping[str, object],
    records: Iterable[Mapping[str, object]],
) -> None:
    """Writes a complete run file in the place of an old one, which stays where that fails.

    Raises CorruptFile where a record is not a valid one, and RunFailed where the file can't be written.
    """
    target = Path(path)
    count = elapsed_ns = 0
    with replacing(path) as stream:
        stream.write(_header_line(header, target))
        for count, members in enumerate(records, 1):
            line = encode_line({"type": "record", **members})
            record, _ = _checked_record(line.rstrip(b"\n"), Where(str(target), count + 1))
            elapsed_ns = max(elapsed_ns, _ended_ns(record))
            stream.write(line)
        stream.write(encode_line(_footer(count, elapsed_ns, complete=True, reason="done")))


def refuse_existing(path: Path) -> None:
    """UsageError where a file is where a new run is to be written; RunFailed where another process writes it."""
    if os.fspath(path) == STANDARD_OUTPUT:
        raise UsageError(
            "-o -: a run file grows, and --resume reads it, so that it can't go to standard output; name a file."
        )
    if path.exists():
        if path.is_dir():
            raise UsageError(f"-o {path}: is a folder; name a file, such as {path / 'run.jsonl'}.")
        refuse_locked(path)
        if (kind_of(path) or ("",))[0] != RUN:
            raise UsageError(f"-o {path}: exists already, and is no run file: name another one.")
        raise UsageError(f"{path} exists already: go on with it by --resume, or remove it first.")


def _header_line(header: Mapping[str, object], path: Path) -> bytes:
    line = encode_line({"type": "header", **header})
    check_header(decode_line(line, Where(str(path), 1)), Where(str(path), 1))
    return line


def _checked_record(line: bytes, where: Where) -> tuple[Fields, tuple[Series, ...]]:
    """The members of a record's line and its series; CorruptFile where it is none."""
    members = _decode_record(line, where)
    if line_type(members, where) != "record":
        raise where.corrupt("type", "must be record")
    return Fields(members, where), record_series(members, where)


def _footer(records: int, elapsed_ns: int, *, complete: bool, reason: str) -> dict[str, object]:
    return {
        "type": "footer",
        "records": records,
        "complete": complete,
        "reason": reason,
        "elapsed_ns": elapsed_ns,
    }


def _ended_ns(record: Fields) -> int:
    return record.integer("started_ns", default=0) + record.integer("elapsed_ns")


def _open_new(path: Path) -> int:
    refuse_existing(path)
    try:
        return open_locked(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    except OSError as error:
        raise UsageError(f"{path} can't be made: {error.strerror}.") from error


def _write_at(descriptor: int, data: bytes, offset: int) -> None:
    """Ends the file after `data`, which begins at `offset`."""
    if os.fstat(descriptor).st_size > offset:
        os.ftruncate(descriptor, offset)
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        offset += written
        view = view[written:]
