"""How often protocol changes are found, and found where there are none, when noise isn't friendly.

Draws machines whose half round trip is known: 0 to 4 changes of protocol, each a jump of the time, on three grids of
sizes and under six kinds of noise. Prints, for each of them, the share of machines on which something was found that is
not there, and the share of jumps that were missed. Runs visit each size three times in shuffled order, raw runs once in
ascending order, and tables have one mean a size.

    .venv/bin/python benchmarks/changes.py --machines 200
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

from machines import GRIDS, NOISES, Drawn, draw, found_and_false

from chiplog.protocol_changes.find import find_changes

KINDS = ("run", "raw", "table")


def rates(
    grid: str, noise: str, *, kind: str, bends: int, seeds: range, show: bool
) -> tuple[int, int, int, float]:
    """Machines with a false change, jumps missed, jumps, and seconds a search took."""
    false, missed, jumps, spent = 0, 0, 0, 0.0
    for seed in seeds:
        drawn = draw(grid, noise, table=kind == "table", raw=kind == "raw", bends=bends, seed=seed)
        start = time.perf_counter()
        changes = find_changes(drawn.dataset).consensus
        spent += time.perf_counter() - start
        found, wrong = found_and_false(drawn, changes)
        false += bool(wrong)
        missed += len(drawn.limits) - found
        jumps += len(drawn.limits)
        if show and (wrong or found < len(drawn.limits)):
            named = [(one.last_before_bytes, one.first_after_bytes, one.kind) for one in changes]
            print(seed, _text(drawn), "found", named)
    return false, missed, jumps, spent / len(seeds)


def _text(drawn: Drawn) -> str:
    pairs = zip(drawn.limits, drawn.jumps, strict=True)
    return ", ".join(f"{limit} ({jump:+.0%})" for limit, jump in pairs)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=1000, help="Thresholds saw those below.")
    parser.add_argument("--bends", type=int, default=0, help="Changes of slope of each machine.")
    parser.add_argument("--grids", nargs="+", default=list(GRIDS))
    parser.add_argument("--noises", nargs="+", default=list(NOISES))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--show", action="store_true", help="Print each machine with an error.")
    asked = parser.parse_args(arguments)
    seeds = range(asked.first_seed, asked.first_seed + asked.machines)
    print(f"{'what':8} {'grid':8} {'noise':10} {'false':>12} {'missed':>12} {'ms':>6}")
    for kind in asked.kinds:
        for grid in asked.grids:
            for noise in asked.noises:
                false, missed, jumps, seconds = rates(
                    grid, noise, kind=kind, bends=asked.bends, seeds=seeds, show=asked.show
                )
                print(
                    f"{kind:8} {grid:8} {noise:10} {false:4}/{asked.machines:<4} "
                    f"{missed:4}/{jumps:<4} {100 * missed / max(jumps, 1):4.1f} % {1e3 * seconds:6.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
