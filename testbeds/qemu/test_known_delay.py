"""The latency follows a delay that is known, over TCP and over RDMA, in a machine whose clock counts instructions.

What the machine's kernel takes for a message nobody knows exactly; the delay that netem adds is exact. So what is
compared is by how much the latency grows. It is the LogGP fit's L_half, half a round trip of one byte: on a machine of
one CPU the overheads o_s and o_r hold much of the other side's work, so that L alone is not identified.

Over TCP it grows from no delay on. Over verbs it is compared with a delay of 50 us: after a message is out its sender
asks the device for an event and goes to sleep, which takes the one CPU some 10 us before the receiver gets it. Any
delay hides that, none does not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chiplog.dataset.run_file import read_run
from chiplog.fit.run import fit
from chiplog.measure.probes import base_probe
from chiplog.plan import PlanOptions
from chiplog.plan.assessment import without_late_receiver
from chiplog.plan.plan import make_plan

DELAYS_US = (0, 50, 100, 200, 1000)
COMPARED_WITH_US = {"tcp": 0, "verbs": 50}
TRANSPORTS = tuple(COMPARED_WITH_US)
SIZES = (1, 64, 256)
Boot = Callable[..., str]
LatencyUs = dict[tuple[str, int], float]


def latency_us(run_file: Path) -> float:
    (found,) = fit(read_run(run_file), ["loggp"], boundaries=())
    (segment,) = found.segments
    value = segment.parameters["L_half"].value
    assert value is not None, f"L_half is not identified in {run_file.name}"
    return value * 1e6


@pytest.fixture(scope="module")
def measured(boot: Boot, tmp_path_factory: pytest.TempPathFactory) -> LatencyUs:
    out = tmp_path_factory.mktemp("known-delay")
    plan = make_plan(PlanOptions("tcp", ("prtt",), SIZES, visits=2, budget_seconds=2.0))
    lines = (without_late_receiver(request).line() for request in plan.requests)
    (out / "requests.jsonl").write_text("".join(lines))
    boot("virtual", out, "known_delay.sh", base_probe(), "/mnt/out/requests.jsonl", *DELAYS_US)
    return {
        (transport, delay): latency_us(out / f"{transport}-{delay}.jsonl")
        for transport in TRANSPORTS
        for delay in DELAYS_US
    }


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_latency_grows_by_the_delay_within_2_us_and_1_per_cent(
    transport: str, measured: LatencyUs
) -> None:
    base = COMPARED_WITH_US[transport]
    for added in (delay - base for delay in DELAYS_US if delay > base):
        grown = measured[transport, base + added] - measured[transport, base]
        assert grown == pytest.approx(added, abs=2.0 + 0.01 * added)


def test_the_table_of_delays(measured: LatencyUs, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(
            f"\n{'delay (us)':>10}" + "".join(f"{f'L_half {one} (us)':>20}" for one in TRANSPORTS)
        )
        for delay in DELAYS_US:
            row = (f"{measured[one, delay]:20.2f}" for one in TRANSPORTS)
            print(f"{delay:>10}" + "".join(row))
