"""chiplog under a real Slurm: ranks find each other, an end from outside leaves a valid file, errors say what to do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from slurm_cluster import Cluster, slurm

from chiplog.dataset.run_file import read_run
from chiplog.jobs.anchor_files import read_anchors
from chiplog.machine_survey.pair_values import Kind, pair_values
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.probes import build_probe

pytestmark = pytest.mark.alone

CHIPLOG = (sys.executable, "-m", "chiplog")
KINDS: tuple[Kind, ...] = ("latency", "bandwidth")
SIGNAL_THE_PROBE = """
for process in /proc/[0-9]*; do
  if [ "$(cat $process/comm)" = chiplog-probe ] && [ $process/ns/uts -ef /proc/self/ns/uts ]; then
    kill -{} ${{process#/proc/}}
  fi
done
"""
"""Sends a signal to the ranks of the host that it runs on, whose UTS namespace they share."""
QUICK = ("--sizes", "8,1KiB", "--budget", "10", "--no-refine")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with slurm(3, tmp_path_factory.mktemp("slurm")) as running:
        yield running


def succeeded(finished: subprocess.CompletedProcess[str]) -> None:
    assert finished.returncode == 0, finished.stderr


def test_ranks_on_several_hosts_find_each_other_from_any_directory(
    cluster: Cluster, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    measured = cluster.run(
        *(*CHIPLOG, "measure", "tcp", "--launcher", "srun -N 3 -n 3", "--ranks", "3"),
        *(*QUICK, "-o", str(out)),
        cwd=Path("/"),
    )
    succeeded(measured)
    header = read_run(out).header
    assert header["hosts"] == ["n1", "n2", "n3"]
    assert header["options"]["bind"].startswith("10.78.0.")


def test_a_batch_script_needs_no_more_than_the_launcher(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    command = [*CHIPLOG, "measure", "tcp", "--launcher", "srun", *QUICK, "-o", str(out)]
    script = tmp_path / "batch.sh"
    script.write_text("#!/bin/sh\n" + " ".join(f"'{word}'" for word in command) + "\n")
    script.chmod(0o755)
    log = tmp_path / "log"
    flags = ("-N", "2", "-n", "2", "--wait", "-o", str(log))
    succeeded(cluster.run("sbatch", *flags, str(script), cwd=tmp_path))
    assert read_run(out).header["hosts"] == ["n1", "n2"], log.read_text()


@pytest.mark.parametrize(
    ("name", "interface"), [("openmpi-debian", "pmix"), ("mpich-debian", "pmi2")]
)
def test_an_mpi_runs_by_the_interface_that_it_speaks(
    name: str,
    interface: str,
    cluster: Cluster,
    tmp_path: Path,
    promised_mpi: Callable[[str], Mpi],
) -> None:
    mpicxx = promised_mpi(name).mpicxx
    build_probe(str(mpicxx))
    out = tmp_path / "run.jsonl"
    launcher = f"srun --mpi={interface} -N 2 -n 2"
    measured = cluster.run(
        *(*CHIPLOG, "measure", "mpi", "--mpi", str(mpicxx), "--launcher", launcher),
        *(*QUICK, "-o", str(out)),
    )
    succeeded(measured)
    assert read_run(out).header["hosts"] == ["n1", "n2"]


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("mpich-debian", "chiplog: a run needs at least 2 ranks; there is 1"),
        ("openmpi-debian", "chiplog: the launcher srun "),
    ],
)
def test_ranks_that_do_not_see_each_other_lead_to_the_option_that_this_slurm_has(
    name: str,
    begins: str,
    cluster: Cluster,
    tmp_path: Path,
    promised_mpi: Callable[[str], Mpi],
) -> None:
    mpicxx = promised_mpi(name).mpicxx
    build_probe(str(mpicxx))
    measured = cluster.run(
        *(*CHIPLOG, "measure", "mpi", "--mpi", str(mpicxx), "--launcher", "srun -N 2 -n 2"),
        *(*QUICK, "-o", str(tmp_path / "run.jsonl")),
    )
    assert measured.returncode in (1, 2)
    assert measured.stderr.startswith(begins), measured.stderr
    assert re.search(r"try srun --mpi=pmix \(this Slurm offers: .*pmi2.*\)", measured.stderr), (
        measured.stderr
    )


def test_a_run_on_several_hosts_takes_an_anchor_that_predict_reads(
    cluster: Cluster, tmp_path: Path, promised_mpi: Callable[[str], Mpi]
) -> None:
    mpicxx = str(promised_mpi("openmpi-debian").mpicxx)
    build_probe(mpicxx)
    out = tmp_path / "report"
    finished = cluster.run(
        *(*CHIPLOG, "run", "mpi", "--mpi", mpicxx, "--launcher", "srun --mpi=pmix -N 3 -n 3"),
        *("--sizes", "8,1KiB", "--budget", "40", "-o", str(out)),
    )
    succeeded(finished)
    assert "mpi: a barrier of 3 ranks takes " in finished.stdout, finished.stdout
    first = read_anchors([out / "runs" / "mpi-anchor.json"])[0]
    assert (first.operation, first.algorithm, first.ranks) == ("barrier", "dissemination", 3)
    assert "### Anchor" in (out / "report.md").read_text()


def test_scancel_leaves_a_file_that_resume_finishes(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    command = [
        *(*CHIPLOG, "measure", "tcp", "--launcher", "srun -N 2 -n 2", "--no-refine"),
        *("--sizes", "1:1KiB", "--budget", "20", "-o", str(out)),
    ]
    running = subprocess.Popen(cluster.command(*command), stderr=subprocess.PIPE, text=True)
    until(lambda: out.exists() and len(out.read_text().splitlines()) > 2)
    succeeded(cluster.run("scancel", "--user", "root"))
    _, said = running.communicate(timeout=60.0)
    assert running.returncode == 1
    assert "interrupted from outside, as by scancel" in said, said
    partial = read_run(out)
    assert partial.series
    assert not partial.complete
    until_idle(cluster)
    succeeded(cluster.run(*command, "--resume"))
    assert read_run(out).complete


def test_a_rank_that_dies_at_once_has_its_own_words_first(cluster: Cluster, tmp_path: Path) -> None:
    measured = cluster.run(
        *(*CHIPLOG, "measure", "tcp:bind=10.99.0.0/16", "--launcher", "srun -N 2 -n 2"),
        *(*QUICK, "-o", str(tmp_path / "run.jsonl")),
    )
    assert measured.returncode == 2
    assert measured.stderr.startswith("chiplog: option 'bind'"), measured.stderr


def test_an_interruption_ends_the_job_and_leaves_no_rank(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    command = [
        *(*CHIPLOG, "measure", "tcp", "--launcher", "srun -N 2 -n 2", "--no-refine"),
        *("--sizes", "1:1KiB", "--budget", "20", "-o", str(out)),
    ]
    running = subprocess.Popen(cluster.command("timeout", "-s", "INT", "4", *command))
    assert running.wait(timeout=60.0) in (124, 130)
    until_idle(cluster)
    if out.exists():
        assert not read_run(out).complete


def test_a_survey_measures_every_pair_of_hosts_and_resume_finishes_what_time_left(
    cluster: Cluster, tmp_path: Path
) -> None:
    folder = tmp_path / "survey"
    command = [
        *(*CHIPLOG, "survey", "tcp", "--launcher", "srun -N 3 -n 3", "--bandwidth-bytes", "64KiB"),
        *("-o", str(folder)),
    ]
    begun = cluster.run(*command, "--budget", "0.001")
    succeeded(begun)
    assert "the survey is not finished" in begun.stdout
    assert "--resume" in begun.stdout
    finished = cluster.run(*command, "--resume")
    succeeded(finished)
    assert "pairs      3 of 3, in 3 rounds\n" in finished.stdout
    run = read_run(folder / "pairs.jsonl")
    assert run.complete
    for kind in KINDS:
        values = pair_values(run, kind)
        assert values.nodes == ("n1", "n2", "n3")
        ends = zip(values.clients.tolist(), values.servers.tolist(), strict=True)
        assert sorted(map(sorted, ends)) == [[0, 1], [0, 2], [1, 2]]
        assert (values.values > 0).all()


def test_a_survey_under_slurm_asks_it_for_the_leaves(cluster: Cluster, tmp_path: Path) -> None:
    command = (*CHIPLOG, "survey", "tcp", "--launcher", "srun -N 3 -n 3", "--once")
    words = ("--bandwidth-bytes", "64KiB", "-o", str(tmp_path / "survey"), "--json", "-")
    file = cluster.folder / "topology.conf"
    declared = file.read_text()
    file.write_text("broken since the controller has read it\n")
    try:
        measured = cluster.run(*command, *words)
    finally:
        file.write_text(declared)
    succeeded(measured)
    assert json.loads(measured.stdout)["topology"]["leaves"] == 2
    assert "was not used" not in measured.stderr


def survey_in_which_n3_is_lost(cluster: Cluster, folder: Path, sign: str, *more: str) -> str:
    """What a survey says on standard error, and its exit code is 1; `sign` is what the probe on n3 gets."""
    command = [
        *(*CHIPLOG, "survey", "tcp", "--launcher", f"srun {' '.join(more)} -N 3 -n 3"),
        *("--visits", "100", "--bandwidth-bytes", "64KiB", "--time-limit", "2"),
        *("-o", str(folder), "--json", str(folder / "survey.json"), "--budget", "8"),
    ]
    run = folder / "pairs.jsonl"
    with subprocess.Popen(cluster.command(*command), stderr=subprocess.PIPE, text=True) as running:
        until(lambda: run.exists() and len(run.read_text().splitlines()) > 2)
        subprocess.run(
            cluster.command("sh", "-c", SIGNAL_THE_PROBE.format(sign), host="n3"), check=True
        )
        _, said = running.communicate(timeout=60.0)
    assert running.returncode == 1, said
    assert read_run(run).series
    until_idle(cluster)
    return said


@pytest.mark.parametrize("sign", ["KILL", "STOP"])
def test_a_node_that_is_lost_in_a_survey_is_named_and_the_others_are_measured_without(
    cluster: Cluster, tmp_path: Path, sign: str
) -> None:
    said = survey_in_which_n3_is_lost(cluster, tmp_path, sign)
    assert said.splitlines()[-1] == (
        "chiplog: n3 was lost; the other 2 nodes were measured without."
    )
    result = json.loads((tmp_path / "survey.json").read_text())
    assert result["names"] == ["n1", "n2"]
    assert result["pairs"] == 1
    (lost,) = result["lost"]
    assert lost["node"] == "n3"
    assert lost["reason"].endswith("rank 2 is n3)")
    assert lost["run"] == str(tmp_path / "pairs.jsonl")
    assert result["run"] == str(tmp_path / "pairs-without-n3.jsonl")


def test_where_the_launcher_chooses_the_nodes_a_lost_one_ends_the_survey(
    cluster: Cluster, tmp_path: Path
) -> None:
    said = survey_in_which_n3_is_lost(cluster, tmp_path, "KILL", "-w", "n[1-3]")
    assert "rank 2 is n3" in said, said
    assert "--resume measures the rest" in said, said


def until(condition: Callable[[], bool], seconds: float = 240.0) -> None:
    """Slurm asks a node again after a minute where it did not hear that a job's processes have ended."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def until_idle(cluster: Cluster) -> None:
    until(lambda: not cluster.run("squeue", "-h").stdout.strip())
