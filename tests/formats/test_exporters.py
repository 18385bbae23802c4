"""Exporters: what other programs read of chiplog's runs and models."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from json_schemas import validate_run_file
from needs import require_command, require_data
from prediction import fit_of
from run_files import write_example

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.export.export_file import export_file
from chiplog.export.exporter import EXPORTERS
from chiplog.fitting.model_file import write_model
from chiplog.fitting.result import Cost, Curve, Fit, FitError, Parameter, Segment

MICROSECOND = 1e-6


def samples(dataset: Dataset) -> list[object]:
    return [
        (
            s.pattern,
            s.operation,
            s.posting,
            s.direction,
            s.message_bytes,
            s.train,
            s.delay_seconds,
            s.batch,
            s.launch,
            s.visit,
            s.record_id,
            s.seconds.tolist(),
        )
        for s in dataset.series
    ]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_example(tmp_path / "run.jsonl", records=5)


def test_a_run_and_an_import_are_what_their_schema_says(run: Path, tmp_path: Path) -> None:
    validate_run_file(run)
    again = import_file(
        "csv", export_file(run, "csv", tmp_path / "r.csv"), tmp_path / "again.jsonl"
    )
    validate_run_file(again)


def test_csv_gives_the_same_samples_back(run: Path, tmp_path: Path) -> None:
    table = export_file(run, "csv", tmp_path / "run.csv")
    again = read_run(import_file("csv", table, tmp_path / "again.jsonl"))
    assert samples(again) == samples(read_run(run))
    assert again.transport == "sim"


def test_parquet_holds_all_samples_warmup_marked_and_the_header(run: Path, tmp_path: Path) -> None:
    table = pq.read_table(export_file(run, "parquet", tmp_path / "run.parquet"))
    dataset = read_run(run)
    kept = table.filter(np.logical_not(table["warmup"].to_numpy()))
    expected = np.concatenate([s.seconds for s in dataset.series])
    assert kept["seconds"].to_numpy().tolist() == expected.tolist()
    assert table.num_rows == expected.size + len(dataset.series)
    assert table["pattern"].to_pylist()[0] == "prtt"
    header = json.loads(table.schema.metadata[b"chiplog.header"])
    assert header["run_id"] == "0123456789abcdef"


def test_codes_gives_netgauges_own_table_back(tmp_path: Path) -> None:
    source = require_data("tukey_netgauge_prtt.dat")
    run = import_file("netgauge", source, tmp_path / "run.jsonl")
    table = export_file(run, "codes", tmp_path / "codes.dat").read_text().splitlines()
    rows = {}
    for line in source.read_text().splitlines():
        if not line.startswith("#"):
            rows.setdefault(line.split()[0], line.split())
    assert [line.split() for line in table[1:]] == list(rows.values())


def test_codes_needs_trains_with_and_without_a_delay(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="codes needs prtt with trains"):
        export_file(run, "codes", tmp_path / "codes.dat")


def parameter(symbol: str, value: float | None, unit: str = "s") -> Parameter:
    return Parameter(symbol, value, value, value, unit, value is not None)


def example_fit(*, S: float | None = None, G: float = 0.5e-9) -> Fit:
    """Two protocols, exactly linear: 5 us + 1 ns/B to 4095 B with o_s 1 us and o_r 0.5 us, then 20 us + 0.5 ns/B."""
    sizes = np.array([1, 16, 256, 4095, 4096, 65536, 1 << 20])
    eager = sizes < 4096
    half = np.where(eager, 5e-6 + 1e-9 * sizes, 20e-6 + 0.5e-9 * sizes)
    o_s = np.where(eager, 1e-6, 1e-5)
    o_r = np.full(sizes.size, 0.5e-6)
    curves = tuple(
        Curve(name, sizes, values, values, values, values)
        for name, values in (("half_round_trip", half), ("o_s", o_s), ("o_r", o_r))
    )
    common = {"o_r": parameter("o_r", 0.5e-6), "S": parameter("S", S, "B")}
    first = {"L": parameter("L", 3.5e-6), "o_s": parameter("o_s", 1e-6), "g": parameter("g", None)}
    last = {"L": parameter("L", 9.5e-6), "o_s": parameter("o_s", 1e-5), "g": parameter("g", 2e-6)}
    return Fit(
        model="loggps",
        method="prtt",
        transport="tcp",
        operation="send",
        direction="one-way",
        statistic="median",
        segments=(
            Segment(1, 4095, {**common, **first, "G": parameter("G", 1e-9, "s/B")}),
            Segment(4096, 1 << 20, {**common, **last, "G": parameter("G", G, "s/B")}),
        ),
        changes=(),
        error=FitError(0, 0, 0, 0, 1),
        cost=Cost(0, 0, 0),
        curves=curves,
    )


def exported(tmp_path: Path, to: str, fit: Fit) -> str:
    write_model(tmp_path / "model.json", [fit])
    return export_file(tmp_path / "model.json", to, tmp_path / f"out.{to}").read_text()


def one_set(G: float) -> Fit:
    """One protocol in which a message alone and in a train costs the same for a byte, as LogGOPSim has it."""
    values = {"L": 3.5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": G}
    return fit_of("loggp", values, last_bytes=1 << 16)


def test_loggopsims_unit_keeps_three_digits_of_G(tmp_path: Path) -> None:
    text = exported(tmp_path, "loggopsim", one_set(8.49e-9))
    assert "1 unit of time = 1 ps" in text
    assert text.splitlines()[-1] == "-L 3500000 -o 1000000 -g 2000000 -G 8490 -O 0 -S 2147483647"


def test_loggopsims_unit_follows_a_faster_network(tmp_path: Path) -> None:
    text = exported(tmp_path, "loggopsim", one_set(4e-12))
    assert "1 unit of time = 1 fs" in text and " -G 4000 " in text


def test_loggopsim_refuses_what_one_set_of_parameters_cant_hold_and_names_ranges_that_it_can(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match=r"one set of parameters.*--sizes 1:"):
        exported(tmp_path, "loggopsim", example_fit())


def properties(text: str) -> dict[str, str]:
    root = ElementTree.fromstring(text)
    return {one.attrib["id"]: one.attrib["value"] for one in root.iter("prop")}


def test_simgrid_refuses_trains_that_its_lack_of_a_gap_cant_give(tmp_path: Path) -> None:
    slow = fit_of("loggp", {"L": 1e-6, "o_s": 1e-7, "o_r": 1e-7, "g": 9e-6, "G": 1e-9})
    with pytest.raises(UsageError, match="SMPI knows no gap"):
        exported(tmp_path, "simgrid", slow)


def test_a_parameter_that_nothing_bounds_is_not_exported(tmp_path: Path) -> None:
    unknown = fit_of("loggp", {"L": None, "o_s": 1e-7, "o_r": 1e-7, "g": 1e-6, "G": 1e-9})
    for to in ("simgrid", "loggopsim"):
        with pytest.raises(UsageError, match=r"L is not identified.*chiplog measure"):
            exported(tmp_path, to, unknown)


def test_simgrid_waits_for_no_receive_where_trains_do_not_show_it(tmp_path: Path) -> None:
    props = properties(exported(tmp_path, "simgrid", example_fit()))
    assert props["smpi/send-is-detached-thresh"] == str((1 << 20) + 1)
    assert props["smpi/async-small-thresh"] == props["smpi/send-is-detached-thresh"]


PING_PONG = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* buffer = malloc(1 << 21);
  for (int i = 1; i < argc; ++i) {
    int n = atoi(argv[i]);
    double start = 0;
    for (int round = 0; round < 3; ++round) {  /* the first ones bring the ranks in step */
      start = MPI_Wtime();
      if (rank == 0) {
        MPI_Send(buffer, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(buffer, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
      }
    }
    if (rank == 0) printf("%.12g\\n", (MPI_Wtime() - start) / 2);
  }
  MPI_Finalize();
}
"""
NEUTRAL = (
    "smpi/simulate-computation:no",
    "smpi/wtime:0",
    "surf/precision:1e-12",
    "maxmin/precision:1e-9",
)


def test_simgrid_gives_the_fitted_ping_pong_back(tmp_path: Path) -> None:
    smpicc = require_command("smpicc", "libsimgrid-dev")
    smpirun = require_command("smpirun", "libsimgrid-dev")
    fit = example_fit()
    exported(tmp_path, "simgrid", fit)
    shutil.move(tmp_path / "out.simgrid", tmp_path / "platform.xml")
    (tmp_path / "hosts").write_text("node-0\nnode-1\n")
    (tmp_path / "ping_pong.c").write_text(PING_PONG)
    subprocess.run([smpicc, "-o", "ping_pong", "ping_pong.c"], cwd=tmp_path, check=True)
    sizes = [1, 100, 4095, 4096, 10000, 1 << 20]
    command = [smpirun, "-np", "2", "-platform", "platform.xml", "-hostfile", "hosts"]
    command += ["--log=root.thres:warning", *(f"--cfg={one}" for one in NEUTRAL), "./ping_pong"]
    command += [str(size) for size in sizes]
    said = subprocess.run(
        command, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60
    ).stdout
    expected = [5e-6 + 1e-9 * s if s < 4096 else 20e-6 + 0.5e-9 * s for s in sizes]
    found = [float(line) for line in said.splitlines()]
    assert found == pytest.approx(expected, rel=0.03)


def test_an_unknown_format_names_the_known_ones(run: Path, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="'excel' is unknown; it accepts " + ", ".join(EXPORTERS.names())
    ):
        export_file(run, "excel", tmp_path / "out")


def test_a_format_for_models_asks_for_the_fit_of_a_run(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is written from a model file: run `chiplog fit"):
        export_file(run, "simgrid", tmp_path / "out")


def test_a_format_for_runs_refuses_a_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is written from a run file"):
        exported(tmp_path, "csv", example_fit())


def test_a_damaged_run_is_not_exported(run: Path, tmp_path: Path) -> None:
    run.write_bytes(run.read_bytes()[:-40])
    with pytest.raises(CorruptFile):
        export_file(run, "csv", tmp_path / "out")


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_a_full_disk_is_a_failed_run(run: Path, to: str) -> None:
    with pytest.raises(RunFailed, match="can't be written"):
        export_file(run, to, "/dev/full")


def test_the_exported_file_is_never_its_own_target(run: Path) -> None:
    with pytest.raises(UsageError, match="is the file to export"):
        export_file(run, "csv", run)
