"""L follows a delay that is known, over TCP and over RDMA, in a machine whose clock counts instructions.

The kernel of the machine takes some time for every message, and nobody knows it exactly; the delay that netem adds is
exact. So what is compared is by how much L grows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chiplog.dataset.run_file import read_run
from chiplog.fit.run import fit
from chiplog.measure.probes import base_probe
from chiplog.plan import PlanOptions
from chiplog.plan.plan import make_plan

DELAYS_US = (0, 50, 200, 1000)
TRANSPORTS = ("tcp", "verbs")
SIZES = (1, 64, 256)
Boot = Callable[..., str]
LatencyUs = dict[tuple[str, int], float]


def latency_us(run_file: Path) -> float:
    (found,) = fit(read_run(run_file), ["loggp"], boundaries=())
    (segment,) = found.segments
    value = segment.parameters["L"].value
    assert value is not None, f"L is not identified in {run_file.name}"
    return value * 1e6


@pytest.fixture(scope="module")
def measured(boot: Boot, tmp_path_factory: pytest.TempPathFactory) -> LatencyUs:
    out = tmp_path_factory.mktemp("known-delay")
    requests = out / "requests.jsonl"
    plan = make_plan(PlanOptions("tcp", ("prtt",), SIZES, visits=2, budget_seconds=2.0))
    requests.write_text("".join(request.line() for request in plan.requests))
    boot("virtual", out, "known_delay.sh", base_probe(), "/mnt/out/requests.jsonl", *DELAYS_US)
    return {
        (transport, delay): latency_us(out / f"{transport}-{delay}.jsonl")
        for transport in TRANSPORTS
        for delay in DELAYS_US
    }


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_L_grows_by_the_delay_within_2_us_and_1_per_cent(
    transport: str, measured: LatencyUs
) -> None:
    without = measured[transport, 0]
    for delay in DELAYS_US[1:]:
        grown = measured[transport, delay] - without
        assert grown == pytest.approx(delay, abs=2.0 + 0.01 * delay)


def test_the_table_of_delays(measured: LatencyUs, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{'delay (us)':>10} " + " ".join(f"{f'L {one} (us)':>14}" for one in TRANSPORTS))
        for delay in DELAYS_US:
            row = (f"{measured[one, delay]:14.2f}" for one in TRANSPORTS)
            print(f"{delay:>10} " + " ".join(row))
