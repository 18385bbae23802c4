# operations.sh PROBE REQUESTS: the same requests with three ranks over verbs and over libfabric's verbs, on one device;
# leaves verbs.jsonl and ofi.jsonl.
set -euo pipefail
. "$(dirname "$0")/one_device.sh"
export FI_UNIVERSE_SIZE=16  # libfabric would reserve memory for 256 ranks

for transport in verbs ofi:provider=verbs; do
  "$1" --target "$transport" --bootstrap fork --ranks 3 --pin none --requests "$2" --records "/mnt/out/${transport%%:*}.jsonl"
done
