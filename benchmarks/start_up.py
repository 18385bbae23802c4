"""How long a command takes to start, from outside.

    python benchmarks/start_up.py [--rounds 20] [--target shm]

Each round runs `chiplog measure TARGET` of one size. "Ranks are up" is when the run's file appears, which holds their
header and is made just before the first record; "all" is the whole command, its records and summary included. Medians,
with the range of the middle half.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHIPLOG = [str(Path(sys.executable).with_name("chiplog"))]
LOOK_SECONDS = 0.0005


def one_round(target: str, out: Path) -> tuple[float, float]:
    """Seconds until the ranks are up, and until the command has ended."""
    began = time.monotonic()
    command = [*CHIPLOG, "measure", target, "-o", str(out), "--sizes", "8"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    up = None
    while process.poll() is None:
        if up is None and out.exists():
            up = time.monotonic() - began
        time.sleep(LOOK_SECONDS)
    ended = time.monotonic() - began
    if process.returncode != 0 or up is None:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return up, ended


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--target", default="shm")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        rounds = [
            one_round(options.target, Path(directory) / f"{number}.jsonl")
            for number in range(options.rounds + 1)
        ][1:]
    for name, column in zip(("ranks are up", "all"), zip(*rounds, strict=True), strict=True):
        low, middle, high = statistics.quantiles(column, n=4)
        print(f"{options.target}, {name}: {middle:.3f} s [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
