#!/usr/bin/env bash
# Where does the protocol change? Found on a grid of sizes, then bisected to the byte while the ranks stay up.
set -euo pipefail
chiplog=${CHIPLOG:-chiplog}

"$chiplog" measure sim:S=8KiB,handshake=sync,noise=0.02,seed=3 --sizes 1:128KiB -o run.jsonl
"$chiplog" changes run.jsonl
"$chiplog" changes run.jsonl --json changes.json
grep -q '"last_before_bytes": 8192' changes.json
