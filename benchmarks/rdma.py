"""chiplog over RDMA libraries: its 8-byte half round trip against the libraries' own tests, on the same provider.

    python benchmarks/rdma.py [--rounds 24] [--only NAME]

Each row alternates chiplog with one peer in one run, on the same two cores, and prints the ratio with a 95 % interval.
Of chiplog's samples the statistic is taken that the peer prints. A peer is a function here and a line in `PEERS`.

fi_pingpong (Debian's libfabric-bin) sends inline where the provider takes so many bytes, as chiplog does, and gives
the mean of all its round trips, without a warm-up: the connection, which its first message makes, is among them. It
posts each receive before it answers the message received last; chiplog posts it when it is called for, after that.

ucx_perftest (Debian's ucx-utils) gives the median over its last 2048 round trips. Both call UCX alike.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from _alternate import Ratio, alternate
from _one_point import half_round_trip_seconds
from harness_overhead import CPUS, free_port, on_cpu, output, server

from chiplog.measurement.probes import base_probe

MESSAGE_BYTES = 8
GOAL = 1.02
SAMPLES = 100_000
BUDGET_SECONDS = 0.7


@dataclass(frozen=True)
class Peer:
    """One row: what chiplog measures, the peer's command that has to be there, and the peer itself."""

    name: str
    target: str
    command: str
    package: str
    half_round_trip_seconds: Callable[[], float]
    statistic: Callable[[list[float]], float] = statistics.fmean


def fi_pingpong(provider: str, domain: str, messages: str, round_trips: int) -> Callable[[], float]:
    """Mean half round trip in seconds, of whichever printed column has more digits."""
    options = ["-e", "rdm", "-p", provider, "-d", domain, "-m", messages]
    sizes = ["-S", str(MESSAGE_BYTES), "-I", str(round_trips)]

    def run() -> float:
        port = free_port()
        with server(on_cpu(CPUS[1], ["fi_pingpong", *options, *sizes, "-B", str(port)]), port):
            client = ["fi_pingpong", *options, *sizes, "-P", str(port), "127.0.0.1"]
            told = output(on_cpu(CPUS[0], client))
        *_, megabytes_per_second, microseconds, _ = told.splitlines()[-1].split()
        rate, duration = float(megabytes_per_second), float(microseconds)
        return MESSAGE_BYTES / (rate * 1e6) if rate > duration else duration * 1e-6

    return run


def ucx_perftest(environment: dict[str, str], round_trips: int) -> Callable[[], float]:
    """Median half round trip in seconds of tagged messages, with UCX set by `environment`."""
    told = {**os.environ, **environment}

    def run() -> float:
        port = free_port()
        command = ["ucx_perftest", "-p", str(port)]
        test = ["-t", "tag_lat", "-s", str(MESSAGE_BYTES), "-n", str(round_trips), "-f", "-v"]
        with server(on_cpu(CPUS[1], command), port, environment=told):
            table = output(on_cpu(CPUS[0], [*command, "127.0.0.1", *test]), env=told)
        _, median_us, *_ = table.splitlines()[-1].split(",")
        return float(median_us) * 1e-6

    return run


PEERS = (
    Peer(
        "ofi tcp / fi_pingpong",
        "ofi:provider=tcp,domain=lo",
        "fi_pingpong",
        "libfabric-bin",
        fi_pingpong("tcp", "lo", "msg", 50_000),
    ),
    Peer(
        "ofi tcp / fi_pingpong, tagged",
        "ofi:provider=tcp,domain=lo",
        "fi_pingpong",
        "libfabric-bin",
        fi_pingpong("tcp", "lo", "tagged", 50_000),
    ),
    Peer(
        "ofi shm / fi_pingpong",
        "ofi:provider=shm",
        "fi_pingpong",
        "libfabric-bin",
        fi_pingpong("shm", "shm", "msg", 1_000_000),
    ),
    Peer(
        "ofi shm / fi_pingpong, tagged",
        "ofi:provider=shm",
        "fi_pingpong",
        "libfabric-bin",
        fi_pingpong("shm", "shm", "tagged", 1_000_000),
    ),
    Peer(
        "ucx tcp / ucx_perftest tag_lat",
        "ucx:tls=tcp,device=lo",
        "ucx_perftest",
        "ucx-utils",
        ucx_perftest({"UCX_TLS": "tcp", "UCX_NET_DEVICES": "lo"}, 50_000),
        statistics.median,
    ),
    Peer(
        "ucx shm / ucx_perftest tag_lat",
        "ucx:tls=shm",
        "ucx_perftest",
        "ucx-utils",
        ucx_perftest({"UCX_TLS": "shm"}, 1_000_000),
        statistics.median,
    ),
)


def rows(rounds: int, only: str | None) -> Iterator[Ratio]:
    for peer in PEERS:
        if only is not None and only not in peer.name:
            continue
        if shutil.which(peer.command) is None:
            print(
                f"{peer.name}: skipped, {peer.command} is missing (apt-get install {peer.package})"
            )
            continue
        probe = [str(base_probe()), "--transport", peer.target, "--ranks", "2"]

        def ours(probe: list[str] = probe, peer: Peer = peer) -> float:
            return half_round_trip_seconds(
                probe,
                MESSAGE_BYTES,
                statistic=peer.statistic,
                samples=SAMPLES,
                budget_seconds=BUDGET_SECONDS,
            )

        yield alternate(peer.name, ours, peer.half_round_trip_seconds, rounds=rounds, goal=GOAL)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--only", help="rows whose name contains this")
    options = parser.parse_args()
    if len(CPUS) < 2:
        sys.exit("this benchmark needs two cores")
    for row in rows(options.rounds, options.only):
        print(row.line(), flush=True)


if __name__ == "__main__":
    main()
