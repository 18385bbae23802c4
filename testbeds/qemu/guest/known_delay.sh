# known_delay.sh PROBE REQUESTS TRANSPORT-DELAY_US ...: takes the same requests between the two devices, over tcp or verbs,
# with each delay, and leaves the run files as TRANSPORT-DELAY_US.jsonl. Ranks block while they wait: only then does a
# clock that leaps over waiting leap.
set -euo pipefail
. "$(dirname "$0")/two_devices.sh"
probe=$1
requests=$2
shift 2
export CHIPLOG_RENDEZVOUS=127.0.0.1:18515 CHIPLOG_SECRET=testbed CHIPLOG_SIZE=2

over_tcp() {  # the two ranks have different addresses, so they are started one by one
  CHIPLOG_RANK=1 "$probe" --target tcp:bind=v1 --pin none &
  CHIPLOG_RANK=0 "$probe" --target tcp:bind=v0 --pin none --requests "$requests" --records "$1"
  wait
}
over_verbs() {
  "$probe" --target verbs:device=rxe0+rxe1,wait=event --bootstrap fork --pin none --requests "$requests" --records "$1"
}

for run in "$@"; do
  delay_each_way_us "${run#*-}"
  "over_${run%-*}" "/mnt/out/$run.jsonl"
done
