"""All pairs of ranks over TCP between nodes, in rounds."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess

import pytest
from nodes import nodes

from chiplog.measurement.probes import base_probe

RANKS = 32
NODES = 4

pytestmark = pytest.mark.alone


def test_32_ranks_on_four_nodes_meet_in_31_rounds() -> None:
    stop = {"min_samples": 3, "max_samples": 3, "budget_ns": 10**9}
    requests = "".join(
        json.dumps(
            {
                "type": "measure",
                "id": number,
                "stop": stop,
                "series": [{"pattern": "all_pairs", "round": number, "message_bytes": 1}],
            }
        )
        + "\n"
        for number in range(RANKS)
    )
    with nodes(NODES, process_mbit=100.0, node_mbit=800.0, processes=RANKS // NODES) as four:
        command = [*shlex.split(four.launcher(*[RANKS // NODES] * NODES)), str(base_probe())]
        command += ["--target", four.target, "--bootstrap", "rendezvous", "--pin", "none"]
        done = subprocess.run(
            command,
            input=requests,
            capture_output=True,
            text=True,
            check=False,
            env={
                **os.environ,
                "CHIPLOG_RENDEZVOUS": four.rendezvous,
                "CHIPLOG_SECRET": secrets.token_hex(16),
            },
        )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    rounds = [line["series"][0] for line in lines if line["type"] == "record"]
    assert [one["round"] for one in rounds] == list(range(31))
    met = [(pair["client"], pair["server"]) for one in rounds for pair in one["by_pair"]]
    assert sorted(met) == [(one, other) for one in range(RANKS) for other in range(one + 1, RANKS)]
    assert all(len(pair["samples_ns"]) > 0 for one in rounds for pair in one["by_pair"])
    (refused,) = [line["message"] for line in lines if line["type"] == "error"]
    assert refused == "field 'series[0].round' accepts 0 to 30 with 32 ranks, not 31"
