"""OTF2 archives, as Score-P and Extrae write them, by OTF2's own library.

The library may end the process where an archive is damaged, so it works in a process of its own.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

from chiplog.errors import CorruptFile, UsageError
from chiplog.optional import needed
from chiplog.tracing.importer import TraceImporter, TraceOptions
from chiplog.tracing.trace import Trace

SUFFIX = ".otf2"
READER = "chiplog.tracing.otf2_reading"


def _anchors(place: Path) -> list[Path]:
    """The anchor files that are meant: the file itself, or those in the folder."""
    found = [place] if place.is_file() else sorted(place.glob(f"*{SUFFIX}"))
    return [path for path in found if path.suffix == SUFFIX and path.is_file()]


def _read(place: Path, _: TraceOptions) -> Trace:
    """The trace of an archive; UsageError where its library is missing, or the folder holds several."""
    anchors = _anchors(place)
    if len(anchors) > 1:
        names = ", ".join(path.name for path in anchors[:4])
        raise UsageError(f"{place} holds several archives: {names}; name one.")
    needed("otf2", "a trace in OTF2")
    for path in (anchors[0], *sorted(anchors[0].with_suffix("").rglob("*"))):
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UsageError(f"{path} is a pipe, a device or a socket: an archive has files only.")
    done = subprocess.run(
        [sys.executable, "-m", READER, str(anchors[0])],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode == 0:
        trace: Trace = pickle.loads(done.stdout)  # of our own process
        return trace
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    is_sentence = done.returncode == CorruptFile.exit_code and said
    reason = (
        said[-1]
        if is_sentence
        else (
            "OTF2's library can't read it and the files of its folder "
            f"{anchors[0].stem}: one is damaged, cut or missing."
        )
    )
    raise CorruptFile(f"{anchors[0]}: {reason}")


OTF2 = TraceImporter(
    name="otf2",
    summary="OTF2 archives of Score-P and others (pip install otf2)",
    recognises=lambda place: bool(_anchors(place)),
    read=_read,
)
