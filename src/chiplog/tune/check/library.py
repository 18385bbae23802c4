"""Is a file in force in chiplog's own library? With CHIPLOG_VERBOSE=1 the library says where its n is from."""

from __future__ import annotations

import os
from pathlib import Path

from chiplog.errors import UsageError
from chiplog.tune.check.launch import Runner
from chiplog.tune.exporters.chiplog_library import VARIABLE

LIBRARY_VARIABLE = "CHIPLOG_COLL_LIBRARY"


def check_library(path: Path, runner: Runner, library: str | None) -> tuple[bool, str]:
    """Whether the library names the file as the source of its n, and what it says.

    The library is `library`, else what $CHIPLOG_COLL_LIBRARY names; UsageError where there is none.
    """
    found = library or os.environ.get(LIBRARY_VARIABLE)
    if not found or not Path(found).is_file():
        raise UsageError(
            f"--library: '{found or ''}' is no file; give the path of libchiplog_coll.so, built for this MPI."
        )
    file = str(path.absolute())
    ended = runner.run(
        {VARIABLE: file, "CHIPLOG_VERBOSE": "1"}, preload=str(Path(found).absolute())
    )
    if not ended.is_done:
        return False, f"the barrier fails with it: {ended.said}"
    said = [line for line in ended.output.splitlines() if line.startswith("chiplog: ")]
    for line in said:
        if f"from {file}" in line:
            return True, line.removeprefix("chiplog: ")
    return False, said[0].removeprefix("chiplog: ") if said else "the library says nothing"
