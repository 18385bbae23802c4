"""What chiplog's harness adds: its 1-byte half round trip against the peers' on the same transport.

    python benchmarks/harness_overhead.py [--rounds 24] [--only shm|tcp|mpi]

Each row alternates chiplog with one peer in one run, on the same two cores, and prints the ratio of the medians with a
95 % interval. Peers: a bare two-flag loop (shm), NPtcp and sockperf (tcp), a plain C loop and NPopenmpi (mpi; Debian's
Open MPI for all three, since Debian's NetPIPE is linked with it). The peers come from Debian's packages netpipe-tcp,
netpipe-openmpi, sockperf, openmpi-bin and libopenmpi-dev; what is missing is installed where this runs as root.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _alternate import Ratio, alternate
from _one_point import half_round_trip_seconds

from chiplog.measurement.probes import base_probe, build_probe

PEERS = Path(__file__).parent / "peers"
PACKAGES = {
    "NPtcp": "netpipe-tcp",
    "NPopenmpi": "netpipe-openmpi",
    "sockperf": "sockperf",
    "mpicxx.openmpi": "libopenmpi-dev",
    "mpirun.openmpi": "openmpi-bin",
}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MPIRUN = ["mpirun.openmpi", "-n", "2", "--bind-to", "none"]
CPUS = sorted(os.sched_getaffinity(0))[:2]
NETPIPE_ROUND_TRIPS = 10_000
"""In one of its trials."""
SOCKPERF_BYTES = 14
"""The shortest message that sockperf sends."""


def install_missing() -> None:
    """Install the peers' Debian packages where this runs as root."""
    missing = sorted(
        {package for command, package in PACKAGES.items() if shutil.which(command) is None}
    )
    if missing and os.geteuid() == 0:
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=True
        )


def output(command: list[str], **options: object) -> str:
    """Standard output of `command`; a failure ends the benchmark with its standard error."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return str(done.stdout)


def on_cpu(cpu: int, command: list[str]) -> list[str]:
    return ["taskset", "-c", str(cpu), *command]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for_port(port: int) -> None:
    """Until something listens on the loopback port, read from the kernel's table: a connection would be served."""
    wanted = f"0100007F:{port:04X}", f"00000000:{port:04X}"
    for _ in range(500):
        if any(
            line.split()[1] in wanted for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        ):
            return
        time.sleep(0.01)
    raise SystemExit(f"nothing listens on port {port}")


@contextmanager
def server(
    command: list[str], port: int, environment: dict[str, str] | None = None
) -> Iterator[None]:
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for_port(port)
        yield
    finally:
        process.terminate()
        process.wait()


def two_flags(build: Path) -> Callable[[], float]:
    program = build / "two_flags"
    output(["c++", "-O3", "-std=c++20", str(PEERS / "two_flags.cpp"), "-o", str(program)])
    return lambda: float(output([str(program), *map(str, CPUS), "400000"])) * 1e-9


def lowest_of_three_means(seconds: list[float]) -> float:
    """What NetPIPE prints of its round trips: it takes them in three trials and reports the fastest one's mean."""
    trial = len(seconds) // 3
    return min(statistics.fmean(seconds[n * trial : (n + 1) * trial]) for n in range(3))


def netpipe_tcp(build: Path) -> Callable[[], float]:
    def run() -> float:
        port, result = free_port(), build / "nptcp.out"
        with server(on_cpu(CPUS[1], ["NPtcp", "-P", str(port)]), port):
            sizes = ["-l", "1", "-u", "1", "-n", str(NETPIPE_ROUND_TRIPS), "-p", "0"]
            output(
                on_cpu(
                    CPUS[0],
                    ["NPtcp", "-h", "127.0.0.1", "-P", str(port), *sizes, "-o", str(result)],
                )
            )
        return float(result.read_text().split()[2])

    return run


def sockperf(build: Path) -> Callable[[], float]:
    def run() -> float:
        port = free_port()
        where = ["--tcp", "-i", "127.0.0.1", "-p", str(port)]
        with server(on_cpu(CPUS[1], ["sockperf", "server", *where]), port):
            told = output(
                on_cpu(
                    CPUS[0], ["sockperf", "ping-pong", *where, "-m", str(SOCKPERF_BYTES), "-t", "1"]
                )
            )
        found = re.search(r"percentile 50.000 =\s*([\d.]+)", told)
        if found is None:
            raise SystemExit(f"sockperf printed no median: {told}")
        return float(found.group(1)) * 1e-6

    return run


def mpi_loop(build: Path) -> Callable[[], float]:
    program = build / "mpi_loop"
    output(["mpicc.openmpi", "-O3", str(PEERS / "mpi_loop.c"), "-o", str(program)])
    environment = {**os.environ, **AS_ROOT}
    return lambda: float(output([*MPIRUN, str(program), "1", "400000"], env=environment)) * 1e-9


def netpipe_openmpi(build: Path) -> Callable[[], float]:
    environment = {**os.environ, **AS_ROOT}
    pinned = [
        *MPIRUN[:-2],
        "--bind-to",
        "core",
        "NPopenmpi",
        "-l",
        "1",
        "-u",
        "1",
        "-n",
        "400000",
        "-p",
        "0",
    ]

    def run() -> float:
        # The file gives seconds with too few digits for shared memory; the rate in Mb/s has enough.
        result = build / "npmpi.out"
        output([*pinned, "-o", str(result)], env=environment)
        return 8 / (float(result.read_text().split()[1]) * 2**20)

    return run


def rows(build: Path, rounds: int, only: str | None) -> Iterator[Ratio]:
    base = str(base_probe())

    def chiplog(target: str, message_bytes: int = 1, **how: Any) -> Callable[[], float]:
        command = [base, "--transport", target, "--ranks", "2"]
        return lambda: half_round_trip_seconds(command, message_bytes, **how)

    if only in (None, "shm"):
        yield alternate(
            "shm / two flags", chiplog("shm"), two_flags(build), rounds=rounds, goal=1.10
        )
    if only in (None, "tcp"):
        alike = chiplog(
            "tcp",
            statistic=lowest_of_three_means,
            samples=3 * NETPIPE_ROUND_TRIPS,
            budget_seconds=2.0,
        )
        yield alternate(
            "tcp / NPtcp (lowest mean of three trials)",
            alike,
            netpipe_tcp(build),
            rounds=rounds,
            goal=1.02,
        )
        median = chiplog("tcp", SOCKPERF_BYTES)
        yield alternate(
            "tcp / sockperf (14 B, medians)", median, sockperf(build), rounds=rounds, goal=1.02
        )
    if only in (None, "mpi"):
        probe = str(build_probe("mpicxx.openmpi").path)
        command = [*MPIRUN, probe, "--transport", "mpi"]

        def over_mpi() -> float:
            return half_round_trip_seconds(command, 1, environment=AS_ROOT)

        yield alternate("mpi / plain C loop", over_mpi, mpi_loop(build), rounds=rounds, goal=1.02)
        yield alternate(
            "mpi / NPopenmpi", over_mpi, netpipe_openmpi(build), rounds=rounds, goal=1.02
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--only", choices=["shm", "tcp", "mpi"])
    options = parser.parse_args()
    if len(CPUS) < 2:
        sys.exit("this benchmark needs two cores")
    install_missing()
    with tempfile.TemporaryDirectory() as build:
        for row in rows(Path(build), options.rounds, options.only):
            print(row.line(), flush=True)


if __name__ == "__main__":
    main()
