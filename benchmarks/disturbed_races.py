"""Does a race whose machine or clocks are disturbed ever say "faster" where nothing is?

    python benchmarks/disturbed_races.py [--mpi MPICXX] [--races 10] [--only NAME,NAME] [--budget 20]

The candidates are the MPI's default under other names, so whatever is said to be faster is wrong. Each disturbance is
raced with as many seeds as there are races, of 2 ranks on this machine:

- nothing: for comparison.
- half-core: a program takes one core for half of the time, in turns of 1 to 20 ms, while the ranks run.
- stopped: rank 1 is suspended for 20 ms again and again during the first second, in which clocks are synchronised.
- step: rank 1's clock jumps by 3 ms, at a moment that is drawn from the first second.
- drift: rank 1's clock begins to run 0.1 % too fast, at such a moment.

The clocks are those that the ranks read: a preloaded library changes what clock_gettime says.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from chiplog.measurement.mpis import identify_mpi
from chiplog.measurement.programs import RACE, build_program
from chiplog.tune.choice import Native
from chiplog.tune.measured.candidate import Candidate
from chiplog.tune.measured.choices import verdicts
from chiplog.tune.measured.mpi_launcher import MpiLauncher
from chiplog.tune.measured.race import Race
from chiplog.tune.measured.raced import Raced, RaceOptions

TWINS = tuple(Candidate(f"twin-{number}", (), Native("0", 0)) for number in range(1, 5))
SIZES = (8, 1024, 65536)
CLOCK_FAULTS = ("stopped", "step", "drift")
DISTURBANCES = ("nothing", "half-core", *CLOCK_FAULTS)

WRONG_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int (*real)(clockid_t, struct timespec *);
static const char *fault;
static long long first_ns, begin_ns, last_stop_ns;

static long long as_ns(const struct timespec *t) { return t->tv_sec * 1000000000LL + t->tv_nsec; }

__attribute__((constructor)) static void begin(void) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  const char *moment = getenv("WRONG_CLOCK_NS");
  real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (!rank) rank = getenv("PMI_RANK");
  if (rank && strcmp(rank, "1") == 0) fault = getenv("WRONG_CLOCK");
  begin_ns = moment ? atoll(moment) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
  int code = real(clock, t);
  if (!fault || clock != CLOCK_MONOTONIC) return code;
  long long now_ns = as_ns(t);
  if (!first_ns) first_ns = now_ns;
  const long long age_ns = now_ns - first_ns;
  if (strcmp(fault, "stopped") == 0) {
    if (age_ns < 1000000000LL && now_ns - last_stop_ns > 60000000LL) {
      const struct timespec pause = {0, 20000000};
      last_stop_ns = now_ns;
      nanosleep(&pause, NULL);
      return real(clock, t);
    }
    return code;
  }
  if (age_ns < begin_ns) return code;
  now_ns += strcmp(fault, "step") == 0 ? 3000000LL : (age_ns - begin_ns) / 1000;
  t->tv_sec = now_ns / 1000000000LL;
  t->tv_nsec = now_ns % 1000000000LL;
  return code;
}
"""

HALF_CORE = """
import os, random, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
turns = random.Random(int(sys.argv[1]))
while True:
    turn = turns.uniform(0.001, 0.02)
    end = time.perf_counter() + turn
    while time.perf_counter() < end:
        pass
    time.sleep(turn)
"""


def wrong_clock(folder: Path) -> Path:
    """The library that makes a rank's clock wrong."""
    source, library = folder / "wrong_clock.c", folder / "wrong_clock.so"
    source.write_text(WRONG_CLOCK)
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-ldl"], check=True
    )
    return library


@contextmanager
def half_of_a_core(seed: int) -> Iterator[None]:
    """A program that takes a core for half of the time, until the end of the context."""
    program = subprocess.Popen([sys.executable, "-c", HALF_CORE, str(seed)])
    try:
        yield
    finally:
        program.kill()
        program.wait()


def disturbed(launcher: MpiLauncher, kind: str, seed: int, library: Path) -> MpiLauncher:
    """The launcher whose ranks have a wrong clock, where the disturbance is one of clocks."""
    if kind not in CLOCK_FAULTS:
        return launcher
    fault = {"WRONG_CLOCK": kind, "WRONG_CLOCK_NS": str(seed * 379_721_123 % 1_000_000_000)}
    return replace(launcher, environment={"LD_PRELOAD": str(library), **fault})


def race(launcher: MpiLauncher, kind: str, seed: int, arguments: argparse.Namespace) -> Raced:
    """One race of the default against itself."""
    operation = ("allreduce", "bcast", "allgather")[seed % 3]
    options = RaceOptions(operation, (2,), SIZES, arguments.budget, seed)
    if kind == "half-core":
        with half_of_a_core(seed):
            return Race(launcher, TWINS, options).run()
    return Race(launcher, TWINS, options).run()


def wrongly_faster(raced: Raced) -> list[str]:
    """What the race says of sizes where it would write a rule."""
    return [
        f"{verdict.cell.operation} of {verdict.cell.message_bytes} B: ratio below {verdict.ratio.high:.3f}"
        for verdict in verdicts(raced)
        if verdict.is_changed and verdict.ratio is not None
    ]


def report(kind: str, all_raced: Sequence[Raced]) -> int:
    """Prints a row, and what was wrong; how many sizes were."""
    wrong = [sentence for raced in all_raced for sentence in wrongly_faster(raced)]
    seemed = sum(len(run.states) for raced in all_raced for run in raced.runs)
    launches = sum(raced.launches for raced in all_raced)
    cells = sum(len(raced.cells) for raced in all_raced)
    print(
        f"{kind:10} {len(all_raced):5} {cells:5} {launches:8} {seemed:6} {len(wrong):14}",
        flush=True,
    )
    for sentence in wrong:
        print(f"  {sentence}")
    return len(wrong)


def main() -> int:
    """The table; 1 where anything is said to be faster."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mpi", default="mpicxx")
    parser.add_argument("--races", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(DISTURBANCES))
    parser.add_argument("--budget", type=float, default=20.0)
    arguments = parser.parse_args()
    mpi = identify_mpi(arguments.mpi)
    launcher = MpiLauncher(build_program(RACE, str(mpi.mpicxx)), 2)
    print(f"{mpi}, 2 ranks, {arguments.races} races of the default against itself")
    print("disturbance races cells launches seemed wrongly faster")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.races)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        library = wrong_clock(Path(folder))
        for kind in arguments.only.split(","):
            every = [
                race(disturbed(launcher, kind, seed, library), kind, seed, arguments)
                for seed in seeds
            ]
            wrong += report(kind, every)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
