# compare_latency.sh PROBE REQUESTS poll|event PROGRAM ROUNDS: in turn the probe over verbs and perftest's PROGRAM
# between the two devices; leaves ours-N.jsonl and peer-N.txt.
set -euo pipefail
. "$(dirname "$0")/two_devices.sh"
probe=$1
requests=$2
waiting=$3
program=$4
rounds=$5
options=(-F -x 1 -s 8 -n 1000)
if [ "$waiting" = event ]; then options+=(-e); fi

# A rank that polls needs a CPU of its own.
if [ "$(nproc)" -gt 1 ]; then
  pin=0,1
  on() { taskset -c "$@"; }
else
  pin=none
  on() { "${@:2}"; }
fi

listening() { ss -ltnH "sport = :18515" | grep -q .; }
ours() {
  "$probe" --target "verbs:device=rxe0+rxe1,wait=$waiting" --bootstrap fork --pin "$pin" --requests "$requests" \
    --records "/mnt/out/ours-$1.jsonl"
}
# In virtual time the clock leaps while the host still reads files: wait for the fact, never for a time.
peer() {
  on 0 "$program" -d rxe1 "${options[@]}" >/run/server.txt 2>&1 &
  until listening; do sleep 0.02; done
  on 1 "$program" -d rxe0 "${options[@]}" 10.9.0.2 >"/mnt/out/peer-$1.txt" 2>&1
  wait $!
}

for round in $(seq "$rounds"); do
  if [ $((round % 2)) -eq 0 ]; then
    ours "$round"
    peer "$round"
  else
    peer "$round"
    ours "$round"
  fi
done
