"""ReFrame submits the survey as a job to a real Slurm, and judges what it says."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm_cluster import Cluster, slurm

OPERATORS = Path(__file__).parents[2] / "examples" / "operators"
PROGRAMS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if shutil.which("reframe", path=str(PROGRAMS)) is None:
        pytest.skip("reframe is not installed (pip install reframe-hpc)")
    with slurm(3, tmp_path_factory.mktemp("slurm")) as running:
        yield running


def test_reframe_submits_the_survey_and_reports_its_figures(
    cluster: Cluster, tmp_path: Path
) -> None:
    done = cluster.run(
        *("env", f"PATH={PROGRAMS}:/usr/sbin:/usr/bin:/sbin:/bin", f"HOME={tmp_path}"),
        *("reframe", "-C", str(OPERATORS / "reframe_slurm.py")),
        *("-c", str(OPERATORS / "survey_reframe.py"), "-r", "--performance-report"),
        *("-S", "target=tcp", "-S", "num_nodes=3", "-S", "under_launcher=srun -N 3 -n 3"),
        *("--prefix", str(tmp_path), "--keep-stage-files"),
        cwd=tmp_path,
    )
    assert "Ran 1/1 test case(s) from 1 check(s)" in done.stdout, done.stdout + done.stderr
    jobs = list(tmp_path.rglob("survey.json"))
    assert jobs, done.stdout + done.stderr
    script = next(tmp_path.rglob("rfm_job.sh")).read_text()
    assert "#SBATCH --ntasks=3" in script and "#SBATCH --ntasks-per-node=1" in script
    assert "median_bandwidth" in done.stdout and "median_latency" in done.stdout
