"""Is a file in force in chiplog's own library? With CHIPLOG_VERBOSE=1 the library says where its n is from."""

from __future__ import annotations

from pathlib import Path

from chiplog.measure.library import find_library
from chiplog.tune.check.launch import Runner
from chiplog.tune.exporters.chiplog_library import VARIABLE


def check_library(
    path: Path, runner: Runner, mpicxx: Path, library: str | None
) -> tuple[bool, str]:
    """Whether the library names the file as the source of its n, and what it says.

    The library is `library`, else what $CHIPLOG_COLL_LIBRARY names, else one built with `mpicxx`; UsageError where the
    one that is named is no file. Ranks exchange messages even on one node: shared memory has no n.
    """
    file = str(path.absolute())
    settings = {VARIABLE: file, "CHIPLOG_VERBOSE": "1", "CHIPLOG_BARRIER_SHARED": "0"}
    ended = runner.run(settings, preload=str(find_library(library, mpicxx)))
    if not ended.is_done:
        return False, f"the barrier fails with it: {ended.said}"
    said = [line for line in ended.output.splitlines() if line.startswith("chiplog: ")]
    for line in said:
        if f"from {file}" in line:
            return True, line.removeprefix("chiplog: ")
    return False, said[0].removeprefix("chiplog: ") if said else "the library says nothing"
