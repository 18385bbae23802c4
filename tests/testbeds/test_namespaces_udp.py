"""udp over a link that loses, doubles and reorders packets: the samples are all there, and the record tells."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import require_command

from chiplog.dataset.disturbance import disturbance
from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit

FAULTS = ("loss", "5%", "duplicate", "2%", "reorder", "10%", "delay", "1ms")


@pytest.fixture
def lossy_namespace() -> Iterator[str]:
    """A network namespace whose loopback has `FAULTS`."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    for program in ("ip", "tc"):
        require_command(program, "iproute2")
    name = f"chiplog{os.getpid()}lossy"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no network namespace can be made: {made.stderr.strip()}")
    try:
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        shaped = subprocess.run(
            ["tc", "-n", name, "qdisc", "add", "dev", "lo", "root", "netem", *FAULTS],
            capture_output=True,
            text=True,
        )
        if shaped.returncode != 0:
            pytest.skip(f"this kernel has no netem: {shaped.stderr.strip()}")
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


def test_a_run_over_a_lossy_link_is_complete_and_says_what_was_lost(
    lossy_namespace: str, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    inside = ["ip", "netns", "exec", lossy_namespace, sys.executable, "-m", "chiplog"]
    plan = ["--sizes", "1,64,4096", "--visits", "1", "--no-refine", "--budget", "8"]
    command = [*inside, "measure", "udp", *plan, "-o", str(out)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert finished.returncode == 0, finished.stderr
    run = read_run(out)
    found = disturbance(run.series)
    assert found is not None
    counts = dict(found.counts)
    assert counts["lost"] > 0
    assert counts["resent"] >= counts["lost"]
    assert found.sentence() in fit(run, ["hockney"])[0].warnings
