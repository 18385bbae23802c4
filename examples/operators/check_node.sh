#!/bin/sh
# Is this node slow, by the last survey? For a Slurm prolog or a health check; it starts no Python and measures nothing.
#
#   check_node.sh FILE [DAYS] [NODE]
#
# FILE is what `chiplog survey verdict RUN --to nhc -o FILE` wrote. Exit code 1 and one sentence where it calls the node
# slow. Everything else is 0, as no verdict is no reason to take a node out of service: a file that is missing, broken or
# older than DAYS (30) or of the future, or a node that it lacks; a sentence on standard error says which.
file=${1:?check_node.sh FILE [DAYS] [NODE]}
days=${2:-30}
node=$(printf '%s' "${3:-$(uname -n)}" | tr '[:upper:]' '[:lower:]')

no_verdict() {
  echo "chiplog: no verdict on $node: $1" >&2
  exit 0
}

same_host() {
  [ "$1" = "$2" ] && return 0
  [ "${1%%.*}" = "${2%%.*}" ] || return 1
  case $1 in *.*) ;; *) return 0 ;; esac
  case $2 in *.*) return 1 ;; esac
}

[ -r "$file" ] || no_verdict "$file can't be read"
{
  read -r mark version seconds rest
  [ "$mark $version" = "# chiplog.node-check/1" ] || no_verdict "$file is not of chiplog.node-check/1"
  case $seconds in "" | *[!0-9]*) no_verdict "$file has no time" ;; esac
  [ $(($(date +%s) - seconds)) -le $((days * 86400)) ] || no_verdict "$file is older than $days days"
  [ $((seconds - $(date +%s))) -le 86400 ] || no_verdict "$file is of the future: a clock was wrong"
  while read -r host word reason; do
    same_host "$host" "$node" || continue
    case $word in
      slow) echo "chiplog: $node is slow: $reason" && exit 1 ;;
      ok) exit 0 ;;
      *) no_verdict "the survey says $word" ;;
    esac
  done
  no_verdict "the survey lacks it"
} < "$file"
