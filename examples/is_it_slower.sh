#!/usr/bin/env bash
# A nightly check: measure again and fail where this machine has become slower than the run that is kept.
set -euo pipefail
chiplog=${CHIPLOG:-chiplog}

"$chiplog" measure sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.02,seed=1 --sizes 1:16KiB -o kept.jsonl
"$chiplog" measure sim:L=6us,o=1us,g=2us,G=0.5ns,noise=0.02,seed=2 --sizes 1:16KiB -o today.jsonl

if "$chiplog" compare kept.jsonl today.jsonl --fail-on slower:5%; then
  echo "as fast as ever"
else
  code=$?
  echo "slower: exit code $code"
  [ "$code" -eq 3 ]
fi
