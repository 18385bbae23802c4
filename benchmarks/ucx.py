"""Half round trip of 8 B over UCX: chiplog against ucx_perftest's tag_lat, on the same transport of UCX.

    python benchmarks/ucx.py [--rounds 24] [--only shm|tcp]

Each row alternates the two in one run, on the same two cores, and prints the ratio of the medians with a 95 % interval.
Both report a median of their own samples. ucx_perftest comes from Debian's package ucx-utils, and the probe must have
been built where libucx-dev is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator

from _alternate import Ratio, alternate
from _one_point import half_round_trip_seconds
from harness_overhead import CPUS, free_port, on_cpu, output, server

from chiplog.measure.inquiry import transports
from chiplog.measure.probes import base_probe

MESSAGE_BYTES = 8
ITERATIONS = 100_000
ENVIRONMENTS = {
    "shm": {"UCX_TLS": "shm"},
    "tcp": {"UCX_TLS": "tcp", "UCX_NET_DEVICES": "lo"},
}
TARGETS = {"shm": "ucx:tls=shm", "tcp": "ucx:tls=tcp,device=lo"}
MEDIAN_COLUMN = 1
"""Of the row that ucx_perftest prints with -f and -v, in microseconds."""


def tag_lat(environment: dict[str, str]) -> Callable[[], float]:
    """The median half round trip in seconds that ucx_perftest finds under `environment`."""

    def run() -> float:
        port = free_port()
        told = {**os.environ, **environment}
        command = ["ucx_perftest", "-p", str(port)]
        asked = ["-t", "tag_lat", "-s", str(MESSAGE_BYTES), "-n", str(ITERATIONS), "-f", "-v"]
        with server(on_cpu(CPUS[1], command), port, environment=told):
            rows = output(on_cpu(CPUS[0], [*command, "127.0.0.1", *asked]), env=told)
        return float(rows.splitlines()[-1].split(",")[MEDIAN_COLUMN]) * 1e-6

    return run


def rows(rounds: int, only: str | None) -> Iterator[Ratio]:
    for name, environment in ENVIRONMENTS.items():
        if only not in (None, name):
            continue
        command = [str(base_probe()), "--transport", TARGETS[name], "--ranks", "2"]
        yield alternate(
            f"ucx {name} / ucx_perftest tag_lat",
            lambda command=command: half_round_trip_seconds(command, MESSAGE_BYTES),  # type: ignore[misc]
            tag_lat(environment),
            rounds=rounds,
            goal=1.02,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--only", choices=sorted(ENVIRONMENTS))
    options = parser.parse_args()
    if len(CPUS) < 2:
        sys.exit("this benchmark needs two cores")
    if shutil.which("ucx_perftest") is None:
        sys.exit("ucx_perftest is missing (apt-get install ucx-utils)")
    if "ucx" not in {one.name for one in transports()}:
        sys.exit("this probe was built without ucx (apt-get install libucx-dev, then build again)")
    for row in rows(options.rounds, options.only):
        print(row.line(), flush=True)


if __name__ == "__main__":
    main()
