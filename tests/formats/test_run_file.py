"""Run files: what is read, what is refused and with which words, and how writing goes on after an accident."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from run_files import (
    example_header,
    example_record,
    example_series,
    write_example,
)

from chiplog.dataset.lines import encode_line
from chiplog.dataset.run_file import RunWriter, read_run, write_run
from chiplog.errors import ChiplogError, CorruptFile, RunFailed, UsageError

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_example(tmp_path / "run.jsonl")


def write_lines(path: Path, *lines: dict[str, object]) -> Path:
    path.write_bytes(b"".join(encode_line(line) for line in lines))
    return path


def with_record(tmp_path: Path, record: dict[str, object]) -> Path:
    return write_lines(
        tmp_path / "run.jsonl",
        {"type": "header", **example_header()},
        {"type": "record", **record},
        {"type": "footer", "records": 1, "complete": True, "reason": "done", "elapsed_ns": 1},
    )


def test_a_written_run_reads_back_with_samples_divided_by_their_batch(run: Path) -> None:
    dataset = read_run(run)
    assert dataset.complete and dataset.warnings == () and dataset.transport == "sim"
    single, train = dataset.series[:2]
    assert single.seconds.tolist() == [100e-9, 111e-9, 123e-9]
    assert single.warmup_seconds.tolist() == [500e-9]
    assert train.batch == 7 and train.seconds.tolist() == [301 / 7e9, 322 / 7e9]
    assert single.placement_seconds == pytest.approx(124e-9)
    assert single.tag == {"purpose": "grid"}


def test_the_series_of_a_record_share_its_duration_by_their_samples(run: Path) -> None:
    single, train = read_run(run).series[:2]
    assert single.elapsed_seconds + train.elapsed_seconds == pytest.approx(1e-6)
    assert single.elapsed_seconds / train.elapsed_seconds == pytest.approx(834 / 1523)


def test_samples_of_a_dataset_cannot_be_changed(run: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        read_run(run).series[0].seconds[0] = 1.0


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.jsonl")), ids=lambda path: path.name)
def test_run_files_of_every_release_still_load(path: Path) -> None:
    expected = json.loads(path.with_suffix(".expected.json").read_text())
    dataset = read_run(path)
    assert dataset.complete is expected["complete"]
    found = [
        [s.pattern, s.message_bytes, s.train, s.delay_seconds, s.launch, s.seconds.tolist()]
        for s in dataset.series
    ]
    assert found == expected["series"]


def test_unknown_members_are_passed_over(tmp_path: Path) -> None:
    series = example_series(later={"samples_ns": [1, 2]})
    path = with_record(tmp_path, example_record(0, series, from_the_future=[1]))
    assert read_run(path).series[0].seconds.size == 3


def test_samples_in_picoseconds_are_finer(tmp_path: Path) -> None:
    series = example_series(samples_ps=[13564364, 13564365], warmup=0)
    del series["samples_ns"]
    path = with_record(tmp_path, example_record(0, series))
    assert read_run(path).series[0].seconds.tolist() == [13.564364e-6, 13.564365e-6]


def corrupt(path: Path) -> str:
    with pytest.raises(CorruptFile) as error:
        read_run(path)
    assert error.value.exit_code == 5
    sentence = str(error.value)
    assert str(path) in sentence
    return sentence


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.touch()
    assert "line 1: the file is empty" in corrupt(path)


def test_a_missing_file_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing\.jsonl can't be opened: No such file"):
        read_run(tmp_path / "nothing.jsonl")


def test_a_run_without_its_footer_was_truncated(run: Path) -> None:
    run.write_bytes(b"".join(run.read_bytes().splitlines(keepends=True)[:-1]))
    assert "line 4: the file ends without a footer" in corrupt(run)


def test_a_torn_last_line_was_truncated(run: Path) -> None:
    lines = run.read_bytes().splitlines(keepends=True)
    run.write_bytes(b"".join(lines[:2]) + lines[2][:100])
    assert (
        "line 3, field crc32: the file was truncated in this line; 1 whole record comes"
        in corrupt(run)
    )


def test_no_flipped_bit_passes_unseen(run: Path) -> None:
    intact = run.read_bytes()
    for position in range(0, len(intact) - 1, 7):
        damaged = bytearray(intact)
        damaged[position] ^= 1 << (position % 8)
        run.write_bytes(damaged)
        assert ", line " in corrupt(run)


def test_a_flipped_bit_is_told_from_a_truncated_line(run: Path) -> None:
    damaged = bytearray(run.read_bytes())
    start = run.read_bytes().index(b'"samples_ns":[') + 15
    damaged[start] ^= 1
    run.write_bytes(damaged)
    sentence = corrupt(run)
    assert "line 2, field crc32: the checksum says" in sentence and "altered" in sentence


def test_a_lost_record_shows_in_the_footer(run: Path) -> None:
    lines = run.read_bytes().splitlines(keepends=True)
    run.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert "line 4, field records: says 3, but 2 records come before it" in corrupt(run)


def test_nothing_may_follow_the_footer(run: Path) -> None:
    run.write_bytes(run.read_bytes() + run.read_bytes())
    assert "there is more after the footer" in corrupt(run)


def test_a_file_of_a_later_schema_is_refused_by_name(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "r.jsonl", {"type": "header", **example_header(schema="chiplog.run/2")}
    )
    assert "field schema: is 'chiplog.run/2'; this chiplog reads 'chiplog.run/1'" in corrupt(path)


@pytest.mark.parametrize("name", ["schema", "run_id", "created", "target", "transport", "ranks"])
def test_a_header_names_what_it_lacks(tmp_path: Path, name: str) -> None:
    header = example_header()
    del header[name]
    path = write_lines(tmp_path / "run.jsonl", {"type": "header", **header})
    assert f"line 1, field {name}: is missing" in corrupt(path)


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"message_bytes": -1}, "series[0].message_bytes: must be from 0"),
        ({"message_bytes": 1.0}, "series[0].message_bytes: must be an integer, not a number"),
        ({"message_bytes": True}, "series[0].message_bytes: must be an integer, not true or false"),
        ({"train": 0}, "series[0].train: must be from 1"),
        ({"batch": 0}, "series[0].batch: must be from 1"),
        ({"delay_ns": -0.5}, "series[0].delay_ns: must be finite and not negative"),
        ({"delay_ns": "1"}, "series[0].delay_ns: must be a number, not a text"),
        ({"direction": "up"}, "series[0].direction: is 'up'; known are"),
        ({"warmup": 9}, "series[0].warmup: is 9, but there are 4 samples"),
        ({"samples_ns": [1, -2]}, "series[0].samples_ns[1]: must be from 0 to 2^63 - 1, but is -2"),
        ({"samples_ns": [1, 2.5]}, "series[0].samples_ns[1]: must be an integer, not a number"),
        ({"samples_ns": [1, None]}, "series[0].samples_ns[1]: must be an integer, not null"),
        ({"samples_ns": [1, True]}, "series[0].samples_ns[1]: must be an integer, not true"),
        ({"samples_ns": [2**63]}, "series[0].samples_ns[0]: must be from 0 to 2^63 - 1"),
        ({"samples_ns": {}}, "series[0].samples_ns: must be a list, not an object"),
        ({"samples_ns": "#0"}, "series[0].samples_ns: must be a list, not a text"),
    ],
)
def test_a_wrong_member_is_named(tmp_path: Path, members: dict[str, object], sentence: str) -> None:
    path = with_record(tmp_path, example_record(0, {**example_series(), **members}))
    assert f"line 2, field {sentence}" in corrupt(path)


@pytest.mark.parametrize("name", ["pattern", "message_bytes", "train", "samples_ns", "messages"])
def test_a_missing_member_of_a_series_is_named(tmp_path: Path, name: str) -> None:
    series = example_series()
    del series[name]
    path = with_record(tmp_path, example_record(0, series))
    assert f"line 2, field series[0].{name}: is missing" in corrupt(path)


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "1e999", "[" * 100000, '"\\ud800', "01", "5" * 5000]
)
def test_what_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    import zlib

    run = write_example(tmp_path / "run.jsonl", records=1)
    body = f'{{"type":"record","id":{text}'.encode()
    line = b'%s,"crc32":"%08x"}\n' % (body, zlib.crc32(body))
    lines = run.read_bytes().splitlines(keepends=True)
    run.write_bytes(lines[0] + line + lines[2])
    assert "line 2" in corrupt(run)


def test_series_without_a_sample_beyond_their_warmup_are_left_out_and_said(tmp_path: Path) -> None:
    record = example_record(4, example_series((5,)), example_series())
    dataset = read_run(with_record(tmp_path, record))
    assert len(dataset.series) == 1
    assert dataset.warnings == (
        "record 4: prtt of 1024 B has no sample beyond its warm-up and is left out",
    )


def test_salvage_keeps_the_whole_records_before_a_torn_line(run: Path) -> None:
    lines = run.read_bytes().splitlines(keepends=True)
    run.write_bytes(b"".join(lines[:3]) + lines[3][:50])
    dataset = read_run(run, salvage=True)
    assert not dataset.complete and len(dataset.series) == 4
    assert "the 2 records before are whole" in dataset.warnings[0]


def test_salvage_does_not_pass_over_damage_in_the_middle(run: Path) -> None:
    lines = run.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"prtt", b"prtr", 1)
    run.write_bytes(b"".join(lines))
    with pytest.raises(CorruptFile, match="line 2, field crc32"):
        read_run(run, salvage=True)


def test_resume_goes_on_after_the_last_whole_record(run: Path) -> None:
    lines = run.read_bytes().splitlines(keepends=True)
    run.write_bytes(b"".join(lines[:3]) + lines[3][:50])
    with RunWriter.resume(run) as writer:
        assert writer.finished == {0, 1} and not writer.complete
        writer.append(example_record(2))
    dataset = read_run(run)
    assert dataset.complete and {s.record_id for s in dataset.series} == {0, 1, 2}


def test_resume_drops_the_footer_of_an_interrupted_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(KeyboardInterrupt), RunWriter.create(path, example_header()) as writer:
        writer.append(example_record(0))
        raise KeyboardInterrupt
    assert not read_run(path).complete
    assert json.loads(path.read_text().splitlines()[-1])["reason"] == "interrupted"
    with RunWriter.resume(path) as writer:
        writer.append(example_record(1))
    assert read_run(path).complete and len(read_run(path).series) == 2


def test_resuming_a_complete_run_leaves_it_as_it_is(run: Path) -> None:
    before = run.read_bytes()
    with RunWriter.resume(run) as writer:
        assert writer.complete and writer.finished == {0, 1, 2}
        writer.finish(complete=True)
    assert run.read_bytes() == before


def test_an_existing_run_is_not_overwritten_by_chance(run: Path) -> None:
    before = run.read_bytes()
    with pytest.raises(UsageError, match="exists already: go on with it by --resume"):
        RunWriter.create(run, example_header())
    assert run.read_bytes() == before


def test_an_error_in_the_run_stands_in_the_footer(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(RunFailed), RunWriter.create(path, example_header()) as writer:
        raise RunFailed("rank 1 was lost.")
    assert json.loads(path.read_text().splitlines()[-1])["reason"] == "rank 1 was lost."
    assert writer.records == 0


def test_a_bad_record_line_is_refused_before_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter.create(path, example_header()) as writer:
        line = encode_line({"type": "record", **example_record(0)})
        writer.append_raw(line)
        with pytest.raises(CorruptFile, match="line 3, field crc32"):
            writer.append_raw(line.replace(b"1024", b"1025"))
        with pytest.raises(CorruptFile, match="line 3, field type"):
            writer.append_raw(encode_line({"type": "header", **example_header()}))
    assert read_run(path).complete and writer.records == 1


def test_a_record_line_is_written_byte_by_byte_as_it_came(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    line = encode_line({"type": "record", "unknown": {"b": 1, "a": [2.50]}, **example_record(0)})
    with RunWriter.create(path, example_header()) as writer:
        writer.append_raw(line.decode())
    assert path.read_bytes().splitlines(keepends=True)[1] == line


FULL_DISK = """
import resource, signal, sys
from chiplog.dataset.run_file import RunWriter
from chiplog.errors import RunFailed
from run_files import example_header, example_record, example_series
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
try:
    with RunWriter.create(sys.argv[1], example_header()) as writer:
        for number in range(100):
            writer.append(example_record(number, example_series(range(100))))
except RunFailed as error:
    print(error)
"""


def test_a_full_disk_ends_in_a_sentence_and_keeps_the_finished_records(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    command = [sys.executable, "-c", FULL_DISK, str(path)]
    with_helpers = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=60, env=with_helpers
    )
    said = done.stdout
    assert "can't be written: File too large; the " in said and "--resume goes on" in said
    kept = read_run(path, salvage=True)
    assert len(kept.series) > 2 and f"the {len(kept.series)} finished records" in said
    with RunWriter.resume(path) as writer:
        writer.append(example_record(500))
    assert read_run(path).complete


def test_a_device_without_space_is_a_failed_run() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with pytest.raises(RunFailed, match="/dev/full can't be written: No space left on device"):
        write_run("/dev/full", example_header(), [])


def test_a_file_that_cannot_be_made_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be made: No such file or directory"):
        RunWriter.create(tmp_path / "no" / "run.jsonl", example_header())


def test_a_huge_line_is_not_taken_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with path.open("wb") as stream:
        stream.truncate(1 << 40)  # sparse: a terabyte without a newline
    code = (
        "import resource, sys\n"
        "from chiplog.dataset.run_file import read_run\n"
        "from chiplog.errors import CorruptFile\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({1 << 30}, {1 << 30}))\n"
        "try: read_run(sys.argv[1])\n"
        "except CorruptFile as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert "line 1: the line holds a zero byte" in said


def test_a_selection_keeps_only_what_matches(run: Path) -> None:
    dataset = read_run(run)
    assert len(dataset.select(train=1).series) == 3
    assert [s.message_bytes for s in dataset.select(train=10, message_bytes=2).series] == [2]
    assert dataset.select(message_bytes=3).series == ()
    assert dataset.select(purpose="bisect").series == ()
    assert dataset.select(delayed=True).series == ()


def test_medians_are_taken_over_all_samples_of_a_size(tmp_path: Path) -> None:
    parts = [
        example_series((0, 10, 20)),
        example_series((0, 60)),
        example_series((0, 7), message_bytes=8),
    ]
    found = read_run(with_record(tmp_path, example_record(0, *parts))).medians_by_size()
    assert found.message_bytes.tolist() == [8, 1024]
    np.testing.assert_allclose(found.seconds, [7e-9, 20e-9])


def test_every_error_of_reading_says_file_and_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("hello\n")
    with pytest.raises(ChiplogError, match=r"run\.jsonl, line 1, field crc32") as error:
        read_run(path)
    assert error.value.exit_code == 5
