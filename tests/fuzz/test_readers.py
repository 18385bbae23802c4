"""Damaged input ends in one clear error with exit code 5, or reads as if nothing had happened: nothing else."""

from __future__ import annotations

import atexit
import functools
import gzip
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_files import example_fit
from run_files import example_header, example_record, write_example

from chiplog.dataset.importers import import_file
from chiplog.dataset.lines import encode_line
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile
from chiplog.fitting.model_file import fits_to_json, json_text, read_model

T = TypeVar("T")
Edit = tuple[str, int, bytes]
PATIENT = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])

positions = st.integers(min_value=0, max_value=1 << 16)
pieces = st.binary(max_size=12) | st.sampled_from(
    [b"\n", b",", b'"', b"-", b"nan", b"1e999", b"[" * 500, b"\0", b"{}", b"\xff", b"9" * 30, b"_"]
)
edits = st.lists(
    st.tuples(
        st.sampled_from(["flip", "insert", "delete", "replace", "truncate", "repeat"]),
        positions,
        pieces,
    ),
    min_size=1,
    max_size=4,
)


def edited(content: bytes, changes: list[Edit]) -> bytes:
    for kind, position, piece in changes:
        at = position % (len(content) + 1)
        head, tail = content[:at], content[at:]
        if kind == "flip" and tail:
            content = head + bytes([tail[0] ^ (1 << position % 8)]) + tail[1:]
        elif kind == "insert":
            content = head + piece + tail
        elif kind == "delete":
            content = head + tail[len(piece) + 1 :]
        elif kind == "replace":
            content = head + piece + tail[len(piece) :]
        elif kind == "truncate":
            content = head
        elif kind == "repeat":
            content = head + tail[:200] + tail
    return content


def data(dataset: Dataset) -> list[object]:
    return [
        (s.pattern, s.message_bytes, s.train, s.launch, s.record_id, s.seconds.tolist())
        for s in dataset.series
    ]


def outcome(read: Callable[[Path], T], path: Path) -> tuple[T | None, str]:
    """What `read` gives, or None and the sentence with which it refused; other errors than CorruptFile pass."""
    try:
        return read(path), ""
    except CorruptFile as error:
        return None, str(error)


@functools.cache
def intact() -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        return write_example(Path(directory) / "run.jsonl").read_bytes()


@functools.cache
def place() -> Path:
    path = tempfile.mkdtemp(prefix="chiplog-fuzz-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def written(content: bytes, name: str = "input") -> Path:
    path = place() / name
    path.write_bytes(content)
    return path


@PATIENT
@given(edits)
def test_a_damaged_run_reads_the_same_or_is_refused(changes: list[Edit]) -> None:
    reference = data(read_run(written(intact(), "intact")))
    path = written(edited(intact(), changes))
    dataset, sentence = outcome(read_run, path)
    assert str(path) in sentence if dataset is None else data(dataset) == reference


@PATIENT
@given(edits)
def test_salvaging_a_damaged_run_gives_a_beginning_of_it_or_is_refused(changes: list[Edit]) -> None:
    reference = data(read_run(written(intact(), "intact")))
    try:
        found = data(read_run(written(edited(intact(), changes)), salvage=True))
    except CorruptFile:
        return
    assert found == reference[: len(found)]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@PATIENT
@given(st.sampled_from(sorted(example_record())), json_values)
def test_a_record_with_any_member_replaced_reads_or_is_refused(name: str, value: object) -> None:
    check_record({**example_record(), name: value})


@PATIENT
@given(st.sampled_from(sorted(example_record()["series"][0])), json_values)  # type: ignore[index]
def test_a_series_with_any_member_replaced_reads_or_is_refused(name: str, value: object) -> None:
    record = example_record()
    record["series"] = [{**record["series"][0], name: value}]  # type: ignore[index]
    check_record(record)


@PATIENT
@given(st.sampled_from([*sorted(example_header()), "provenance"]), json_values)
def test_a_header_with_any_member_replaced_reads_or_is_refused(name: str, value: object) -> None:
    check_lines({**example_header(), name: value}, example_record())


def check_record(record: dict[str, object]) -> None:
    check_lines(example_header(), record)


def check_lines(header: dict[str, object], record: dict[str, object]) -> None:
    """The checksums are right here, so that what stands behind them is tried."""
    lines = (
        {"type": "header", **header},
        {"type": "record", **record},
        {"type": "footer", "records": 1, "complete": True, "reason": "done", "elapsed_ns": 1},
    )
    path = written(b"".join(encode_line(line) for line in lines))
    dataset, sentence = outcome(read_run, path)
    if dataset is None:
        assert ", line " in sentence
    else:
        assert all((s.seconds >= 0).all() and s.message_bytes >= 0 for s in dataset.series)


SOURCES = {
    "netgauge": b"# size n\n1 10 13.564364 23.296190 145.577438 6.78 1.1 1.13 -nan -nan -nan\n"
    b"2 10 10.835693 20.580017 118.670184 6.782182 1.145917 1.065402 1.079925 0.001389 -nan\n",
    "simgrid-calibration": b"MPI_Send,8,1.0,2.5e-06\nMPI_Recv,8,1.0,3e-06\nMPI_Send,9,1.1,2e-06\n"
    b"MPI_Recv,9,1.1,3e-06\n",
    "nodecomm": b"\nHops: 3\n1\t4.00e-06\t4.34e-06\t\n2\t3.98e-06\t4.26e-06\t\n1\t3.91e-06\t4.33e-06\n",
    "osu": b"# OSU MPI Multiple Bandwidth / Message Rate Test v5.7\n# [ pairs: 15 ] [ window size: 64 ]\n"
    b"# Size                  MB/s        Messages/s\n1                       6.39        6385003.80\n",
    "imb": b"# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
    b"0 1000 2.23 0.00\n1 1000 2.26 0.42\n# Benchmarking PingPing\n",
    "csv": b"pattern,message_bytes,pairs,train,launch,seconds,delay_seconds\n"
    b'ping_pong,8,1,1,0,1.5e-06,0\nflood,8,1,32,0,1.7e-06,0\n"prtt",16,1,10,1,1.6e-06,1e-5\n',
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("kind", sorted(SOURCES))
@PATIENT
@given(changes=edits, pack_first=st.booleans())
def test_a_damaged_source_imports_as_a_valid_run_or_is_refused(
    kind: str, packed: bool, changes: list[Edit], pack_first: bool
) -> None:
    if not packed:
        content = edited(SOURCES[kind], changes)
    elif pack_first:
        content = edited(gzip.compress(SOURCES[kind], mtime=0), changes)
    else:
        content = gzip.compress(edited(SOURCES[kind], changes), mtime=0)
    source, out = written(content, "source"), place() / "imported.jsonl"
    out.unlink(missing_ok=True)
    direction = "round-trip" if kind == "csv" else None
    run, sentence = outcome(lambda path: import_file(kind, path, out, direction=direction), source)
    if run is None:
        assert str(source) in sentence and ", line " in sentence
        assert not out.exists()
    else:
        assert all((s.seconds >= 0).all() for s in read_run(run).series)


@PATIENT
@given(edits)
def test_a_damaged_model_file_reads_or_is_refused(changes: list[Edit]) -> None:
    content = json_text(fits_to_json([example_fit()])).encode()
    path = written(edited(content, changes), "model.json")
    fits, sentence = outcome(read_model, path)
    assert fits is not None or str(path) in sentence
