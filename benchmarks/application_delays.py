"""What `chiplog app` predicts of programs on networks with other delays and bandwidths, against what they take there.

    python benchmarks/application_delays.py [--mpi MPICXX…] [--only replays|delays]

The programs of tests/testbeds/programs/communicating.cpp run between network namespaces, over a relay of known
delay and rate (testbeds/delays). At 200 Mbit/s without delay a model is measured, and each program is traced once.
Replays: each trace's time and its time in MPI, by the model, against those that were traced, with 2 to 4 ranks.
Delays: the time that is predicted of each trace with more delay, and with half the bandwidth, against the median of
three runs there.

Needs root. Nothing leaves this machine, and all namespaces go at the end.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

from delayed_hosts import delayed_hosts
from programs_between_hosts import PROGRAMS, Laboratory, TracedProgram

from chiplog.errors import CorruptFile
from chiplog.measurement.mpis import Mpi, identify_mpi
from chiplog.measurement.probes import build_probe

BITS_PER_SECOND = 200e6
CHANGES = {
    "L+50us": (BITS_PER_SECOND, 50),
    "L+200us": (BITS_PER_SECOND, 200),
    "L+1000us": (BITS_PER_SECOND, 1000),
    "G*2": (BITS_PER_SECOND / 2, 0),
    "L+200us,G*2": (BITS_PER_SECOND / 2, 200),
}
"""As `chiplog app --change` takes them, and what the relay is set to."""
GOAL, SECONDS_GOAL, MPI_GOAL = 0.10, 0.05, 0.15


def main() -> None:
    options = options_given()
    if os.geteuid() != 0:
        print("skipped: network namespaces need root")
        return
    for mpicxx in options.mpi:
        mpi = identify_mpi(mpicxx)
        with tempfile.TemporaryDirectory() as build:
            directory = (options.keep or Path(build)) / mpi.kind
            directory.mkdir(parents=True, exist_ok=True)
            compare(mpi, directory, options)


def compare(mpi: Mpi, directory: Path, options: argparse.Namespace) -> None:
    """Prints what comes of an MPI; files go into the directory."""
    build_probe(str(mpi.mpicxx))  # before ranks are started with priorities that a compiler has not
    with delayed_hosts(max(2, *options.ranks), directory) as hosts:
        laboratory = Laboratory(mpi, hosts, directory)
        print(f"{mpi}", flush=True)
        laboratory.compile()
        model = options.model or laboratory.measure_model(options.budget)
        if options.only != "delays":
            replays(laboratory, model, options)
        if options.only != "replays":
            delays(laboratory, model, options)
        print(f"relay: {hosts.close()}", flush=True)


def options_given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", nargs="*", default=["mpicxx.openmpi"], metavar="MPICXX")
    parser.add_argument("--only", choices=["replays", "delays"])
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 3, 4], help="of the replays")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--model", type=Path, help="one that was measured and kept before")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where models and traces stay")
    parser.add_argument("--budget", type=int, default=60, help="seconds for measuring the model")
    return parser.parse_args()


def replays(laboratory: Laboratory, model: Path, options: argparse.Namespace) -> None:
    """Prints each replay on the network on which it was traced."""
    inside = total = 0
    for ranks in options.ranks:
        for name in options.programs:
            try:
                trace = laboratory.trace(name, ranks, options.rounds)
                said = laboratory.predict(trace, model)
            except CorruptFile as error:  # its messages wait for each other for ever
                print(f"{name:15} {ranks} ranks: {str(error)[:160]}  OUT", flush=True)
                total += 1
                continue
            seconds = said.replayed.seconds / said.traced_seconds - 1
            in_mpi = said.replayed_mpi_seconds / said.mpi_seconds - 1
            is_inside = abs(seconds) <= SECONDS_GOAL and abs(in_mpi) <= MPI_GOAL
            verdict = "" if is_inside else "  OUT"
            if said.takes_turns:
                verdict = f"{verdict}  not counted: ranks take turns, as is said"
            else:
                total, inside = total + 1, inside + is_inside
            print(
                f"{name:15} {ranks} ranks: {said.traced_seconds:.3f} s traced, replayed {seconds:+.1%}; "
                f"in MPI {said.mpi_seconds:.3f} s, replayed {in_mpi:+.1%}{verdict}",
                flush=True,
            )
    print(
        f"{inside} of {total} replays within {SECONDS_GOAL:.0%}, and of the time in MPI {MPI_GOAL:.0%}"
    )


def delays(laboratory: Laboratory, model: Path, options: argparse.Namespace) -> None:
    """Prints each prediction for a network that differs, and how the program did there."""
    said: dict[str, TracedProgram] = {}
    for name in options.programs:
        if name == "threads":  # its four threads take turns on two cores
            continue
        said[name] = laboratory.predict(
            laboratory.trace(name, 2, options.rounds), model, list(CHANGES)
        )
    errors, inside = [], 0
    for change, link in CHANGES.items():
        laboratory.hosts.set(*link)
        for name in said:
            taken = laboratory.median_seconds(name, 2, options.rounds)
            predicted = said[name].changed[change]
            errors.append(predicted.seconds / taken - 1)
            is_inside = predicted.low <= taken <= predicted.high
            inside += is_inside
            print(
                f"{change:12} {name:15} {taken:.3f} s, predicted {predicted.seconds:.3f} s "
                f"[{predicted.low:.3f}, {predicted.high:.3f}], off by {errors[-1]:+.1%}{'' if is_inside else '  OUT'}",
                flush=True,
            )
    laboratory.hosts.set(BITS_PER_SECOND, 0)
    close = sum(abs(error) <= GOAL for error in errors)
    print(
        f"{close} of {len(errors)} within {GOAL:.0%}, median {median(map(abs, errors)):.1%}; "
        f"{inside} inside their interval"
    )


if __name__ == "__main__":
    main()
