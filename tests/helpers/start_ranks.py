"""A launcher for tests: `start_ranks.py NAMESPACE:RANKS ... -- COMMAND` runs COMMAND once a rank.

Each namespace is a node with a host name of its own. Rank 0 has this process' standard input and output.
"""

from __future__ import annotations

import os
import subprocess
import sys


def main(words: list[str]) -> int:
    """Start all ranks and wait for them; the first exit code that is not 0."""
    cut = words.index("--")
    places = [word.rpartition(":") for word in words[:cut]]
    command = words[cut + 1 :]
    nodes = [name for name, _, count in places for _ in range(int(count))]
    ranks = [_start(rank, len(nodes), node, command) for rank, node in enumerate(nodes)]
    codes = [rank.wait() for rank in ranks]
    return next((code for code in codes if code), 0)


def _start(rank: int, ranks: int, node: str, command: list[str]) -> subprocess.Popen[bytes]:
    own_name = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', node]
    return subprocess.Popen(
        ["ip", "netns", "exec", node, *own_name, *command],
        stdin=None if rank == 0 else subprocess.DEVNULL,
        stdout=None if rank == 0 else sys.stderr,
        env={**os.environ, "CHIPLOG_RANK": str(rank), "CHIPLOG_SIZE": str(ranks)},
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
