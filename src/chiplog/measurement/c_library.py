"""What the C library of this host says of its own way to copy, for the header of a run.

Transports copy with memcpy, which itself switches to another way at some sizes, by as much as a protocol may. The GNU C
library tells at which: its loader lists its tunables (2.33 and later). Other libraries tell nothing.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

MAPS = Path("/proc/self/maps")
_LOADER = re.compile(r"(/\S*/ld-linux\S*)")
_THRESHOLD = re.compile(
    r"^glibc\.cpu\.x86_(?:rep_movsb|non_temporal)_threshold: (\w+)", re.MULTILINE
)
TIME_LIMIT_SECONDS = 2.0


def c_library() -> dict[str, Any] | None:
    """The header's `c_library`: the sizes in bytes at which copies change; None where it doesn't tell."""
    try:
        loader = _LOADER.search(MAPS.read_text())
        if loader is None:
            return None
        listed = subprocess.run(
            [loader[1], "--list-tunables"],
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_SECONDS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    limits = sorted({int(value, 0) for value in _THRESHOLD.findall(listed)})
    return {"loader": loader[1], "copy_limits_bytes": limits} if limits else None
