"""The barrier library against MPI's own barriers.

On this machine: MPI_Barrier, the MPI's own and, for two ranks, a bare exchange of two flags, taken in turn, by state of
the machine. What the library adds to a communicator that is made, used and freed. In a simulation of InfiniBand-like
hosts: each n against SMPI's selectors, and n* of the model. Between network namespaces, as root: against each of Open
MPI's barrier algorithms over tcp.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from _barrier_hosts import between_hosts
from _barrier_machine import this_machine
from _barrier_set_up import set_ups
from _barrier_simulated import simulated

from chiplog.errors import ChiplogError


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["machine", "set-up", "simulated", "hosts"])
    parser.add_argument("--ranks", type=int, nargs="*", default=[8, 16, 32, 64, 512])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        build = Path(directory)
        if options.only in (None, "machine"):
            this_machine(build)
        if options.only in (None, "set-up"):
            set_ups(build)
        if options.only in (None, "simulated"):
            simulated(build, options.ranks)
        if options.only in (None, "hosts"):
            between_hosts(build)


if __name__ == "__main__":
    try:
        main()
    except ChiplogError as error:
        sys.exit(str(error))
