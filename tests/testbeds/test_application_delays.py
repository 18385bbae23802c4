"""A program's trace on one network says what it takes on another, whose delay is known.

benchmarks/application_delays.py has more programs, delays and bandwidths, and prints how far the predictions are off.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from delayed_hosts import delayed_hosts
from programs_between_hosts import Laboratory

from chiplog.measurement.mpis import Mpi

ROUNDS = 200
DELAY_US = 1000
RATE = 200e6

pytestmark = pytest.mark.alone


@pytest.mark.parametrize("name", ["openmpi-debian", "mpich-wheel"])
def test_a_token_that_goes_around_is_later_by_the_known_delay_of_each_message(
    name: str, promised_mpi: Callable[[str], Mpi], tmp_path: Path
) -> None:
    mpi = promised_mpi(name)
    with delayed_hosts(2, tmp_path) as hosts:
        laboratory = Laboratory(mpi, hosts, tmp_path)
        laboratory.compile()
        model = laboratory.measure_model(8, sizes="1:16KiB")
        change = f"L+{DELAY_US}us"
        said = laboratory.predict(laboratory.trace("ring", 2, ROUNDS), model, [change])
        before = laboratory.median_seconds("ring", 2, ROUNDS)
        hosts.set(RATE, DELAY_US)
        after = laboratory.median_seconds("ring", 2, ROUNDS)
    added = 2 * ROUNDS * DELAY_US * 1e-6
    assert said.changed[change].seconds - said.replayed.seconds == pytest.approx(added, rel=0.02)
    # A host that takes a core away for a while changes what is measured, not what is predicted.
    assert after - before == pytest.approx(added, rel=0.2)
    assert said.changed[change].seconds == pytest.approx(after, rel=0.2)
