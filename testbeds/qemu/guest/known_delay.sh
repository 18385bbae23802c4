# known_delay.sh PROBE REQUESTS DELAY_US ...: takes the same requests over tcp and verbs between the two devices with each
# delay, and leaves the run files as TRANSPORT-DELAY.jsonl. Ranks block while they wait: only then does a clock that
# leaps over waiting leap.
set -euo pipefail
. "$(dirname "$0")/two_devices.sh"
probe=$1
requests=$2
shift 2
export CHIPLOG_RENDEZVOUS=127.0.0.1:18515 CHIPLOG_SECRET=testbed CHIPLOG_SIZE=2

for delay in "$@"; do
  delay_each_way_us "$delay"
  # The two ranks have different addresses, so they are started one by one.
  CHIPLOG_RANK=1 "$probe" --target tcp:bind=v1 --pin none &
  CHIPLOG_RANK=0 "$probe" --target tcp:bind=v0 --pin none --requests "$requests" --records "/mnt/out/tcp-$delay.jsonl"
  wait
  "$probe" --target verbs:device=rxe0+rxe1,wait=event --bootstrap fork --pin none --requests "$requests" \
    --records "/mnt/out/verbs-$delay.jsonl"
done
