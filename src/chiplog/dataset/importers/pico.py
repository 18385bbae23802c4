"""PICO's results: the time of every iteration of collective operations, one job an archive.

    SYSTEM/TIMESTAMP.tar.gz                          TIMESTAMP/TEST/COUNT_ALGORITHM[_SEGMENT]_int32.csv
    SYSTEM_metadata.csv                              timestamp,test_id,nnodes,tasks_per_node,collective_type,...
    highest                                          the header of a file; highest,rank0,rank1,... with all ranks
    120300                                           ns, the maximum over the ranks

FILE is the archive or its folder, unpacked. The collective operation, the nodes and the ranks on each stand in
`SYSTEM_metadata.csv` beside the folder SYSTEM, or in the archive's own aggregated_results_summary.csv. A count is the
number of elements of the whole buffer. The first fifth of a file's iterations is marked as warm-up. Lines behind the
times that are no numbers, as on Fugaku, are no measurements.

Source: PICO's pico_core_utils.c, results/generate_metadata.py and plot/summarize_data.py, and its results.
"""

from __future__ import annotations

import csv
import hashlib
import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from chiplog.dataset.import_collectives import (
    DEFAULT,
    IN_BLOCKS,
    collective_name,
    collective_series,
)
from chiplog.dataset.import_parts import part_name, parts_warning
from chiplog.dataset.import_text import Skipped, is_number, noted
from chiplog.dataset.import_values import LONGEST_SECONDS, NANOSECOND, whole
from chiplog.dataset.importer import Imported, ImportedRecord, Importer, Options, Source
from chiplog.dataset.lines import Where
from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.input_file import MOST_DATA_BYTES, MOST_NAMED, open_input, read_bounded

CONVENTION = (
    "the duration of each iteration of a collective operation in ns, the maximum over the ranks"
)
MAX_BYTES = MOST_DATA_BYTES
"""Most bytes of all files of an archive together, unpacked."""
WARMUP = 5
"""Given: one in so many iterations, from the first, is warm-up: what PICO's own evaluation leaves out."""
TYPE_BYTES = {
    "int8": 1, "char": 1, "int16": 2, "int32": 4, "int": 4, "float": 4, "int64": 8, "double": 8,
}  # fmt: skip
"""Given: the bytes of an element by the type's name in a file's name."""
ABOVE = 4
"""Given: a file of one test lies so many folders below the one with the metadata."""
SUMMARY = "aggregated_results_summary.csv"
_UNASKED = re.compile(r"default(?:[_-](?:default|ompi|mpich|cray|fjmpi|nccl))?", re.IGNORECASE)
"""Names of what a library does unasked; `default-ring` is its ring."""
_MEMBER = re.compile(
    rf"(?:.*/)?([\w.-]+)/(\d{{1,9}})/(\d{{1,15}})_(.+?)(?:_(\d{{1,12}}))?_({'|'.join(TYPE_BYTES)})\.csv"
)


@dataclass(frozen=True)
class _Test:
    """What one test of a job is of."""

    collective: str
    nodes: int
    ranks_per_node: int
    memory: str | None
    mpi: str | None = None
    """The MPI and its release, as the metadata name them."""

    @property
    def ranks(self) -> int:
        """How many ranks take part."""
        return self.nodes * self.ranks_per_node

    @property
    def part(self) -> str | None:
        """The name of the part of a file that its times are in."""
        return part_name(f"{self.nodes}-nodes-x-{self.ranks_per_node}", self.memory)


def open_results(path: Path) -> Source:
    """The files of an archive, of a folder or of one test; CorruptFile where it is none of these.

    Raises UsageError where it can't be opened, and RunFailed where it can't be read.
    """
    left_out: list[str] = []
    try:
        if path.is_dir() or path.suffix == ".csv":
            texts = dict(_files(path, left_out))
            whole_text = "".join(f"{name}\0{text}" for name, text in sorted(texts.items()))
            digest = hashlib.sha256(whole_text.encode())
        else:
            with open_input(path, MAX_BYTES) as packed:
                if not any(
                    packed.read(tarfile.BLOCKSIZE)
                ):  # lzma takes zeros for many empty streams
                    raise CorruptFile(f"{path}, line 1: this is no archive: it begins with zeros")
                packed.seek(0)
                digest = hashlib.file_digest(packed, "sha256")
                packed.seek(0)
                texts = dict(_unpacked(packed, path))
        metadata = _metadata(path.absolute(), left_out)
        return Source(str(path), metadata, digest.hexdigest(), texts, tuple(left_out))
    except (FileNotFoundError, PermissionError) as error:
        raise UsageError(f"{path} can't be opened: {error.strerror}.") from error
    except OSError as error:
        raise RunFailed(f"{path} can't be read: {error.strerror}.") from error


def _files(path: Path, left_out: list[str]) -> Iterator[tuple[str, str]]:
    """The texts of a CSV file, or of those below a folder, by their paths from the folder above the job's.

    Of a folder, what can't be opened is `left_out`.
    """
    total = 0
    files = sorted(path.rglob("*.csv")) if path.is_dir() else [path]
    for file in files:
        try:
            text = _text_of(file)
        except (RunFailed, UsageError) as error:
            if file == path:
                raise
            left_out.append(str(error))
            continue
        total += len(text)
        _check_total(total, path)
        yield "/".join(file.absolute().parts[-3:]), text


def _unpacked(packed: BinaryIO, path: Path) -> Iterator[tuple[str, str]]:
    """The texts of the CSV files of an archive, by their paths in it; nothing is written to the disk."""
    total = 0
    try:
        with tarfile.open(fileobj=packed) as archive:
            for member in archive:
                if not member.isreg() or not member.name.endswith(".csv"):
                    continue
                total += member.size
                _check_total(total, path)
                stream = archive.extractfile(member)
                if stream is not None:
                    yield member.name, _text(stream.read(MAX_BYTES))
    except (tarfile.TarError, EOFError, ValueError, OverflowError, OSError) as error:
        raise CorruptFile(
            f"{path}, line 1: this is no archive of PICO's results, or a damaged one: {_sentence(error)}"
        ) from None
    except Exception as error:  # zlib and lzma have errors of their own
        raise CorruptFile(f"{path}, line 1: the archive is damaged: {_sentence(error)}") from None


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())[:80] or type(error).__name__


def _check_total(total: int, path: Path) -> None:
    if total > MAX_BYTES:
        raise CorruptFile(f"{path}, line 1: its files hold more than {MAX_BYTES >> 20} MiB")


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="replace")


def _text_of(path: Path) -> str:
    with open_input(path, MAX_BYTES) as stream:
        return _text(read_bounded(stream, str(path), MAX_BYTES))


def _metadata(path: Path, left_out: list[str]) -> str:
    """The text of the metadata files beside `path` and in the folders above: PICO's stands beside SYSTEM."""
    above = [path, *path.parents][: ABOVE + 1]
    files = [
        metadata_file
        for folder in above
        if folder.is_dir()
        for metadata_file in folder.glob("*_metadata.csv")
    ]
    texts = []
    for file in sorted(files):
        try:
            texts.append(_text_of(file))
        except (RunFailed, UsageError) as error:
            left_out.append(str(error))
    return "\n".join(texts)


def read(source: Source, options: Options) -> Imported:
    """Every file of the job; CorruptFile names what is wrong."""
    if options.direction is not None or options.pattern is not None:
        raise UsageError(
            "--direction and --pattern do not fit: PICO's metadata names the collective operations; leave them out."
        )
    known = _tests(source)
    skipped = Skipped()
    visits: Counter[tuple[object, ...]] = Counter()
    records = []
    odd: list[CorruptFile] = []
    for name in sorted(source.members, key=_order):
        match = _MEMBER.fullmatch(name)
        try:
            member = None if match is None else _of_member(source, match, known, skipped)
        except CorruptFile as error:
            odd.append(error)
            continue
        if member is not None:
            key, record = member
            records.append(replace(record, visit=visits[key]))
            visits[key] += 1
    if odd and not records:
        raise odd[0]
    skipped.refuse_if_empty(records)
    if not records:
        what = "the archive holds no file TIMESTAMP/TEST/COUNT_ALGORITHM_TYPE.csv"
        raise source.where(1).corrupt(None, what)
    ranks = max(imported_record.series[0].peers for imported_record in records) + 1
    return Imported(
        records,
        CONVENTION,
        ranks=ranks,
        warnings=(
            *parts_warning(records),
            *_buffers_warning(records),
            *skipped.warnings(),
            *_left_out([*source.left_out, *map(str, odd)]),
        ),
    )


def _left_out(sentences: list[str]) -> Iterator[Mapping[str, object]]:
    """A warning for each of the first files that are left out, and one for the others."""
    for sentence in sentences[:MOST_NAMED]:
        yield from noted(1, "files", sentence.rstrip("."), "it is left out")
    others = len(sentences[MOST_NAMED:])
    yield from noted(others, "files", "further files can't be read either", "they are left out")


def _of_member(
    source: Source, match: re.Match[str], known: Mapping[tuple[str, int], _Test], skipped: Skipped
) -> tuple[tuple[object, ...], ImportedRecord] | None:
    """The record of one file of the job, and what its visits have in common; None where no time is usable."""
    stamp, test, count, algorithm, segment, kind = match.groups()
    about = known.get((stamp, int(test)))
    where = Where(f"{source.path}, {match[0]}", 1)
    if about is None:
        what = (
            f"nothing says which collective operation test {test} of {stamp} is: put PICO's SYSTEM_metadata.csv "
            "beside the folder SYSTEM that holds the archive, or beside the archive"
        )
        raise where.corrupt("test_id", what)
    size = int(count) * TYPE_BYTES[kind]
    record = _record(source.members[match[0]], about, size, algorithm, skipped, where)
    if record is None:
        return None
    series = record.series[0]
    tag = {**record.tag, "pico": match[0], "job": match[1], "algorithm": algorithm}
    if about.mpi:
        tag["mpi"] = about.mpi
    if segment:
        tag["segment_bytes"] = int(segment)
    key = (series.pattern, series.operation, series.message_bytes, segment, about.part)
    return key, ImportedRecord(record.series, tag=tag, placement=about.part)


def _order(name: str) -> tuple[object, ...]:
    """Files by test, algorithm and count."""
    match = _MEMBER.fullmatch(name)
    return (
        (1, name)
        if match is None
        else (0, match[1], int(match[2]), match[4], int(match[3]), match[5] or "")
    )


def _tests(source: Source) -> dict[tuple[str, int], _Test]:
    """What the metadata say of each test, by time stamp and number; the archive's own summaries where they don't."""
    summaries = [text for name, text in source.members.items() if name.endswith(SUMMARY)]
    tests: dict[tuple[str, int], _Test] = {}
    for text in (*summaries, source.text):
        for row in _rows(text):
            test = _test(row)
            if test is not None and row["test_id"].isdigit():
                tests[row["timestamp"], int(row["test_id"][:9])] = test
    return tests


def _rows(text: str) -> Iterator[Mapping[str, str]]:
    """The rows of one or more CSV tables below each other, each with its header."""
    header: list[str] = []
    try:
        for cells in csv.reader(text.splitlines()):
            if "timestamp" in cells and "test_id" in cells:
                header = cells
            elif header and len(cells) == len(header):
                yield dict(zip(header, cells, strict=True))
    except csv.Error:
        return


def _test(row: Mapping[str, str]) -> _Test | None:
    """What one row says; None of one that is damaged, as if it were missing.

    >>> _test({"collective_type": "ALLREDUCE", "nnodes": "2x2x2", "tasks_per_node": "4"}).ranks
    32
    """
    nodes = re.findall(r"\d{1,9}", row.get("nnodes", ""))
    per_node = row.get("tasks_per_node", "")
    collective = collective_name(row.get("collective_type", ""))
    if not re.fullmatch(r"\d{1,9}(?:x\d{1,9}){0,5}", row.get("nnodes", "")) or collective is None:
        return None
    number = int(np.prod([int(node) for node in nodes], dtype=object))
    if not per_node.isdigit() or not 0 < number * int(per_node[:9]) < 1 << 32:
        return None
    memory = "gpu-buffers" if row.get("gpu_awareness", "no").lower() == "yes" else None
    mpi = " ".join(row.get(name, "") for name in ("mpi_lib", "mpi_lib_version")).strip()
    return _Test(collective, number, int(per_node[:9]), memory, mpi[:80] or None)


def _record(
    text: str, test: _Test, buffer_bytes: int, algorithm: str, skipped: Skipped, where: Where
) -> ImportedRecord | None:
    """The iterations of one file; None, with the reason in `skipped`, where none is usable."""
    lines = text.splitlines()
    if not lines or lines[0].split(",")[0].strip() != "highest":
        raise where.corrupt("highest", "the file does not begin with this column's name")
    cells = [line.split(",")[0].strip() for line in lines[1:]]
    while cells and not is_number(cells[-1]):
        cells.pop()
    count = [
        whole(cell, "highest", Where(where.path, line), maximum=int(LONGEST_SECONDS / NANOSECOND))
        for line, cell in enumerate(cells, start=2)
    ]
    size = buffer_bytes // test.ranks if test.collective in IN_BLOCKS else buffer_bytes
    if not count or 0 in count:
        skipped.row(where, where.path, "highest", "the file has no times, or such of 0 ns")
        return None
    if size == 0 and test.collective in IN_BLOCKS:
        skipped.row(
            where,
            where.path,
            None,
            f"{buffer_bytes} bytes are no block for each of {test.ranks} ranks",
        )
        return None
    seconds = np.array(count, dtype=np.float64) * NANOSECOND
    series = collective_series(
        test.collective,
        size,
        seconds,
        algorithm=DEFAULT if _UNASKED.fullmatch(algorithm) else algorithm,
        ranks=test.ranks,
    )
    tag = {"buffer_bytes": buffer_bytes, "nodes": test.nodes, "ranks_per_node": test.ranks_per_node}
    return ImportedRecord((replace(series, warmup=len(count) // WARMUP),), tag=tag)


def _buffers_warning(records: list[ImportedRecord]) -> tuple[Mapping[str, object], ...]:
    return noted(
        sum(record.series[0].pattern in IN_BLOCKS for record in records),
        "files",
        "PICO counts the whole buffer; here the size of allgather, alltoall, ... is a rank's block",
        "the whole buffer is kept in the tag buffer_bytes",
    )


PICO = Importer(
    name="pico",
    summary="PICO's results: an archive TIMESTAMP.tar.gz, its folder, or a file of one test",
    sign=r"\A\d{4}(?:_\d\d){2}___(?:\d\d_){2}\d\d/",
    is_log=True,
    open=open_results,
    read=read,
)
