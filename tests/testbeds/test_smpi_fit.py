"""From a simulated cluster to parameters: plan, measure, refine and fit give back what was put in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.jobs.refine import Refine
from chiplog.measurement.launchers import SimulatedPlatform, launch_command
from chiplog.measurement.measuring import measure
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.session import Session
from chiplog.plan.plan import PlanOptions
from chiplog.plan.sizes import parse_sizes

PATTERNS = ("prtt", "ping_pong", "send_overhead", "receive_overhead", "late_receiver")
OVERHEAD_STEP = 8176
LATENCY_STEP = OVERHEAD_STEP + 16  # SMPI adds its envelope before it looks up the factor
OPTIONS = (
    f"smpi/os:0:100e-9:0;{OVERHEAD_STEP}:150e-9:0",
    f"smpi/ois:0:100e-9:0;{OVERHEAD_STEP}:150e-9:0",
    "smpi/or:0:20e-9:0",
    f"smpi/lat-factor:0:1;{LATENCY_STEP}:3",
)
# In LogGP's terms: an envelope of 16 B and the first byte at 100 MB/s are 170 ns, part of the gap and of the latency.
SECONDS_PER_BYTE = 1 / 100e6
ENVELOPE = 17 * SECONDS_PER_BYTE
TRUTH = (
    {"L": 3e-6 + ENVELOPE, "o_s": 100e-9, "g": ENVELOPE, "G": SECONDS_PER_BYTE},
    {"L": 9e-6 + ENVELOPE, "o_s": 150e-9, "g": ENVELOPE, "G": SECONDS_PER_BYTE},
)


@pytest.mark.parametrize("seed", [1, 2])
def test_parameters_come_back_within_one_per_cent_and_steps_to_the_byte(
    smpi_probe: BuiltProbe,
    simulated_platform: Callable[..., SimulatedPlatform],
    tmp_path: Path,
    seed: int,
) -> None:
    platform = simulated_platform(*OPTIONS)

    def launch(number: int) -> Session:
        arguments = ["--target", "mpi", "--pin", "none", "--launch", str(number)]
        started = launch_command(smpi_probe, 2, arguments, simulated=platform)
        return Session(started.command, environment=started.environment)

    options = PlanOptions("mpi", PATTERNS, parse_sizes("1:1MiB"), visits=1, seed=seed)
    out = tmp_path / "run.jsonl"
    measure("mpi", options, out, launch, follow_ups=lambda _: (Refine(),))

    (fitted,) = fit(read_run(out))
    first, second = fitted.changes
    assert (first.last_before_bytes, first.first_after_bytes) == (OVERHEAD_STEP, OVERHEAD_STEP + 1)
    assert first.kind == "jump"
    assert second.first_after_bytes == 65_536
    assert 65_536 - 16 <= second.last_before_bytes < 65_536
    protocols = [segment for segment in fitted.segments if segment.border != "slope"]
    for segment, truth in zip(protocols, TRUTH, strict=False):
        for symbol, value in truth.items():
            assert segment.parameters[symbol].value == pytest.approx(value, rel=0.01), symbol
