#!/usr/bin/env bash
# Which barrier is the fastest on this network at 100 ranks? Each algorithm's schedule, simulated with the same parameters.
set -euo pipefail
chiplog=${CHIPLOG:-chiplog}

for algorithm in linear tree recursive-doubling dissemination; do
  "$chiplog" schedule barrier --algorithm "$algorithm" --ranks 100 -o barrier.goal
  echo "$algorithm: $("$chiplog" simulate barrier.goal --L 2500 --o 1500 --g 1000 --G 6 | tail -1)"
done
