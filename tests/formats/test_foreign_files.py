"""Files of other tools where a run file is needed, or under the wrong kind: what they are, and what to do."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from chiplog.dataset.foreign import TOOLS
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.errors import CorruptFile, UsageError
from chiplog.fitting.model_file import read_model

OSU = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n1    1.25\n2    1.26\n"
COLUMNS = "pattern,message_bytes,seconds"
OUTPUTS = {
    "sockperf": "sockperf: == version #3.10 ==\nsockperf: Summary: Latency is 7.125 usec\n",
    "iperf3": "Connecting to host n2, port 5201\n[ ID] Interval           Transfer     Bitrate         Retr\n",
    "iperf": "Client connecting to n2, TCP port 5001\n[ ID] Interval       Transfer     Bandwidth\n",
    "netperf": "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to n2 () port 0 AF_INET\n",
    "ping": "PING n2 (10.0.0.2) 56(84) bytes of data.\n64 bytes from n2 (10.0.0.2): icmp_seq=1 ttl=64 time=0.1 ms\n",
}


@pytest.mark.parametrize("name", ["osu.txt", "osu.out.gz"])
def test_a_table_given_as_a_run_is_named_with_the_command_that_imports_it(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(OSU.encode()) if name.endswith(".gz") else OSU.encode())
    for read in (read_run, read_model):
        with pytest.raises(UsageError) as error:
            read(path)
        assert f"import it first: chiplog import osu {path} -o osu.jsonl" in str(error.value)
        assert "cut or altered" not in str(error.value)


def test_a_csv_file_given_as_a_run_is_imported_with_a_direction(tmp_path: Path) -> None:
    path = tmp_path / "my times.csv"
    path.write_text("message_bytes,seconds\n8,1.5e-06\n")
    with pytest.raises(UsageError) as error:
        read_run(path)
    command = f"chiplog import csv '{path}' --direction one-way -o 'my times.jsonl'"
    assert command in str(error.value)


@pytest.mark.parametrize("tool", OUTPUTS)
def test_a_tool_without_importer_is_named_with_the_columns_that_would_do(
    tmp_path: Path, tool: str
) -> None:
    assert tool in TOOLS
    path = tmp_path / "output.txt"
    path.write_text(OUTPUTS[tool])
    with pytest.raises(UsageError, match=f"{tool}'s output") as error:
        read_run(path)
    assert COLUMNS in str(error.value)
    with pytest.raises(CorruptFile, match=f"line 1: this is {tool}'s output") as corrupt:
        import_file("osu", path, tmp_path / "run.jsonl")
    assert COLUMNS in str(corrupt.value)
    with pytest.raises(UsageError, match=f"no importer for {tool}") as unknown:
        import_file(tool, path, tmp_path / "run.jsonl")
    assert COLUMNS in str(unknown.value)


def test_of_an_unknown_table_the_columns_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("size time\n8 1.5\n16 1.6\n")
    with pytest.raises(UsageError) as error:
        read_run(path)
    assert COLUMNS in str(error.value)
    with pytest.raises(CorruptFile) as corrupt:
        import_file("osu", path, tmp_path / "run.jsonl")
    assert COLUMNS in str(corrupt.value)


def test_a_damaged_file_of_ones_own_is_still_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("hello\n")
    with pytest.raises(CorruptFile, match="cut or altered"):
        read_run(path)


def test_the_three_columns_that_are_shown_are_a_file_that_is_read(tmp_path: Path) -> None:
    from chiplog.dataset.foreign import CSV_COLUMNS, CSV_EXAMPLE

    path = tmp_path / "mine.csv"
    path.write_text(f"{CSV_COLUMNS}\n{CSV_EXAMPLE}\n")
    run = read_run(import_file("csv", path, tmp_path / "run.jsonl", direction="one-way"))
    assert [(one.pattern, one.message_bytes, one.median) for one in run.series] == [
        ("ping_pong", 8, 1.5e-06)
    ]
