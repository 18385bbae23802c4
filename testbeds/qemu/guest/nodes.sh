# nodes.sh PROBE TARGET RENDEZVOUS SWITCH NODE:RANKS ...: the requests in /mnt/out/requests.jsonl between nodes that are
# network namespaces, connected by /mnt/out/connect; leaves run.jsonl.
set -euo pipefail
probe=$1
target=$2
export CHIPLOG_RENDEZVOUS=$3 CHIPLOG_SECRET=testbed
switch=$4
shift 4

ip netns add "$switch"
ranks=0
for place in "$@"; do
  ip netns add "${place%:*}"
  ranks=$((ranks + ${place#*:}))
done
export CHIPLOG_SIZE=$ranks
. /mnt/out/connect

of_first=(--requests /mnt/out/requests.jsonl --records /mnt/out/run.jsonl)
rank=0
for place in "$@"; do
  for _ in $(seq "${place#*:}"); do
    if [ $rank -eq 0 ]; then own=("${of_first[@]}"); else own=(); fi
    CHIPLOG_RANK=$rank ip netns exec "${place%:*}" unshare --uts sh -c 'hostname "$0" && exec "$@"' "${place%:*}" \
      "$probe" --target "$target" --pin none "${own[@]}" &
    rank=$((rank + 1))
  done
done
wait
