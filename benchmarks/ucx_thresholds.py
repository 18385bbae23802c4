"""Is UCX faster with the file of `chiplog ucx` where a threshold is set wrongly, and nowhere slower?

    UCX_RNDV_THRESH=64 python benchmarks/ucx_thresholds.py ucx:tls=tcp ucx:tls=shm --json ucx_thresholds.json

For each target: the file is made with the environment as it is, then judged by fresh launches, with and without it in
turns, at sizes that were drawn anew over the whole range. The ratio of a size is that of the worse of two ways to send
(ping-pong, trains); intervals over launches hold together at 95 %. Claimed: at sizes that the environment sets wrongly
at least 10 % faster; where the protocol changes, no interval reaches beyond 3 % slower; where it is the same, none lies
above 1. Runs on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict

import numpy as np

from chiplog.measurement.start import Start
from chiplog.tune.measured.statistics import CandidateRatio, log_ratio, ratio_over_launches
from chiplog.tune.ucx.launches import measure_with
from chiplog.tune.ucx.tuning import UcxOptions, tune_ucx

SLOWER, FASTER = 1.03, 0.9


def main() -> int:
    """Each target in turn; 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", default=["ucx:tls=tcp", "ucx:tls=shm"])
    parser.add_argument("--launches", type=int, default=20, help="pairs of launches that judge")
    parser.add_argument("--sizes", default="8:4MiB:1")
    parser.add_argument("--judged", type=int, default=24, help="sizes")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--json")
    options = parser.parse_args()
    results = [judge(target, options) for target in options.targets]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(results, stream, indent=2)
    return 0 if all(result["holds"] for result in results) else 1


def judge(target: str, options: argparse.Namespace) -> dict[str, object]:
    """Makes the file for one target, and judges it."""
    tuning = tune_ucx(target, None, UcxOptions(options.sizes, seed=options.seed), tell=print)
    print(tuning.text())
    settings = dict(tuning.settings)
    result: dict[str, object] = {"target": target, "tuning": tuning.to_json(), "judged": []}
    if not settings:
        print(f"{target}: the default stays, so nothing is slower\n")
        return {**result, "holds": True}
    ratios, changed = judged_ratios(target, settings, options)
    for size, ratio in ratios.items():
        same = "" if size in changed else "  the same protocol"
        print(f"{size:>9} B  {ratio.value:.3f}  [{ratio.low:.3f}, {ratio.high:.3f}]{same}")
    slower = [
        size
        for size, ratio in ratios.items()
        if (ratio.high > SLOWER if size in changed else ratio.low > 1.0)
    ]
    faster = [size for size, ratio in ratios.items() if ratio.high <= FASTER]
    print(f"{target}: {len(faster)} sizes surely 10 % faster; slower is not excluded at {slower}\n")
    rows = [
        {"bytes": size, "changed": size in changed, **asdict(ratio)}
        for size, ratio in ratios.items()
    ]
    return {**result, "judged": rows, "holds": bool(faster) and not slower}


def judged_ratios(
    target: str, settings: dict[str, str], options: argparse.Namespace
) -> tuple[dict[int, CandidateRatio], set[int]]:
    """By size: time with the file over time without; and the sizes whose protocol the file changes."""
    measure = measure_with(target, Start())
    random = np.random.default_rng(options.seed + 1)
    sizes = sorted({round(math.exp(x)) for x in random.uniform(0, math.log(2**22), options.judged)})
    logs: dict[int, list[float]] = {size: [] for size in sizes}
    changed: set[int] = set()
    for number in range(options.launches):
        order = [int(size) for size in random.permutation(sizes)]
        ways: list[dict[str, str]] = [{}, settings]
        first = int(random.integers(2))
        ended = {which: measure(ways[which], order, number) for which in (first, 1 - first)}
        now, then = ended[0].protocols, ended[1].protocols
        changed |= {size for size in sizes if now.at(size) != then.at(size)}
        for size in sizes:
            log = log_ratio(ended[1].samples[size], ended[0].samples[size])
            if log is not None:
                logs[size].append(log)
    ratios = {size: ratio_over_launches(values, len(sizes)) for size, values in logs.items()}
    return ratios, changed


if __name__ == "__main__":
    sys.exit(main())
