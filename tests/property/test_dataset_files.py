"""Whatever is written to a run file, a CSV table or a model file comes back the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from run_files import example_header, example_record, example_series

from chiplog.dataset.importers import import_file
from chiplog.dataset.lines import Where, decode_line, encode_line
from chiplog.dataset.records import DIRECTIONS
from chiplog.dataset.run_file import RunWriter, read_run
from chiplog.export.export_file import export_file

WHERE = Where("run.jsonl", 1)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
samples = st.lists(st.integers(min_value=0, max_value=10**15), min_size=1, max_size=30)
names = st.sampled_from(["prtt", "ping_pong", "flood", "send_overhead"])


@st.composite
def series(draw: st.DrawFn) -> dict[str, object]:
    taken = draw(samples)
    return example_series(
        taken,
        pattern=draw(names),
        direction=draw(st.sampled_from(DIRECTIONS)),
        message_bytes=draw(st.integers(min_value=0, max_value=1 << 40)),
        train=draw(st.integers(min_value=1, max_value=1000)),
        batch=draw(st.integers(min_value=1, max_value=1000)),
        delay_ns=float(draw(st.integers(min_value=0, max_value=10**9))),
        warmup=draw(st.integers(min_value=0, max_value=len(taken) - 1)),
    )


@given(st.dictionaries(st.text().filter(lambda name: name != "crc32"), plain, min_size=1))
def test_a_line_holds_any_object(members: dict[str, object]) -> None:
    assert decode_line(encode_line(members), WHERE) == members


def write(path: Path, parts: list[dict[str, object]]) -> None:
    with RunWriter.create(path, example_header()) as writer:
        for number, part in enumerate(parts):
            writer.append(example_record(number, part, launch=number % 3))


@settings(deadline=None)
@given(st.lists(series(), min_size=1, max_size=6))
def test_a_run_gives_back_every_sample(parts: list[dict[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run.jsonl"
        write(path, parts)
        found = read_run(path).series
    assert len(found) == len(parts)
    for one, part in zip(found, parts, strict=True):
        intervals = [round(second * 1e9 * one.batch) for second in one.seconds.tolist()]
        assert intervals == part["samples_ns"][part["warmup"] :]  # type: ignore[index,misc]
        assert one.warmup_seconds.size == part["warmup"]
        assert one.message_bytes == part["message_bytes"] and one.train == part["train"]


LONGEST = [example_series([10**15], batch=7, warmup=0)]
"""As long as a time may be, and 7 times a seventh of it rounds to more."""


@settings(deadline=None, max_examples=50)
@given(st.lists(series(), min_size=1, max_size=5))
@example(LONGEST)
def test_a_csv_table_gives_the_same_samples_back(parts: list[dict[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run.jsonl"
        write(path, parts)
        table = export_file(path, "csv", Path(directory) / "run.csv")
        again = read_run(import_file("csv", table, Path(directory) / "again.jsonl"))
        before = read_run(path)
    assert len(again.series) == len(before.series)
    for one, other in zip(again.series, before.series, strict=True):
        assert one.seconds.tolist() == other.seconds.tolist()
        assert (
            one.pattern,
            one.direction,
            one.message_bytes,
            one.train,
            one.batch,
            one.launch,
        ) == (
            other.pattern,
            other.direction,
            other.message_bytes,
            other.train,
            other.batch,
            other.launch,
        )
        assert one.delay_seconds == other.delay_seconds
