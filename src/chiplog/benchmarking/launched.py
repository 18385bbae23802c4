"""What one launch of the program chiplog-bench says: its clocks, and all samples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog import __version__
from chiplog.configuration import as_member
from chiplog.dataset.lines import encode_line
from chiplog.errors import RunFailed
from chiplog.output_file import replacing
from chiplog.outside import as_json

MODES = ("window", "barrier", "round")
OWN = "mpi"
LIBRARY = "library"
SCHEMA = "chiplog.bench-samples/1"
"""Of the file with all raw samples: checksummed JSON lines with header and footer, like a run file."""
VERBOSE = "CHIPLOG_VERBOSE"
_LIBRARY_SAYS = re.compile(
    r"^.*chiplog: barrier of \d+ ranks \(MPI_COMM_WORLD\): (.*)$", re.MULTILINE
)


@dataclass(frozen=True)
class Samples:
    """Seconds of one mode and variant, shape (samples,), and which of them are valid."""

    mode: str
    variant: str
    seconds: NDArray[np.float64]
    valid: NDArray[np.bool_]


@dataclass(frozen=True)
class Launched:
    """One launch."""

    about: Mapping[str, Any]
    """The program's line about ranks, the lead of a start, and clocks."""
    samples: tuple[Samples, ...]
    library: str | None = None
    """What chiplog's library says of its barrier of all ranks: the last, since a trial may have found another one."""

    @property
    def clock_error_seconds(self) -> float:
        """How far off rank 0's clock a rank's was at most: while it was learnt, and at the end."""
        clocks = self.about["clocks"]
        errors = [
            abs(clock[key])
            for clock in clocks
            for key in ("residual_seconds", "off_at_end_seconds")
        ]
        return max(errors, default=0.0)

    def of(self, mode: str, variant: str) -> Samples:
        """The samples of one mode and variant."""
        return next(
            sample for sample in self.samples if (sample.mode, sample.variant) == (mode, variant)
        )


def read_launch(output: str, messages: str = "") -> Launched:
    """From the program's standard output, and error; RunFailed where the output is not complete."""
    about, samples = None, []
    for line in output.splitlines():
        if not line.startswith('{"type":"'):
            continue
        record = as_json(line)
        if not isinstance(record, dict):
            raise RunFailed(f"the bench program said something that is no JSON: {line[:80]}")
        if record["type"] == "launch":
            about = record
        elif record["type"] == "samples":
            samples.append(_samples(record))
    if about is None or not samples:
        last = next(filter(None, map(str.strip, reversed(messages.splitlines()))), "")
        said = f"; the last that it said: {last[:200]}" if last else ""
        raise RunFailed(
            f"the bench program ended before it had all samples, though without an error{said}. "
            "Try it with fewer --ranks or one --launches."
        )
    return Launched(about, tuple(samples), next(reversed(_LIBRARY_SAYS.findall(messages)), None))


def _samples(record: Mapping[str, Any]) -> Samples:
    seconds = np.array(record["seconds"], dtype=np.float64)
    valid = np.ones(seconds.size, dtype=np.bool_)
    valid[record["invalid"]] = False
    return Samples(record["mode"], record["variant"], seconds, valid)


def write_samples(path: Path, launches: Sequence[Launched], command: Sequence[str]) -> None:
    """Header, each launch with a line a mode and variant, footer; RunFailed where it can't be written."""
    header = {
        "type": "header",
        "schema": SCHEMA,
        "chiplog": __version__,
        "command": list(command),
        **as_member(),
    }
    lines = [encode_line(header)]
    for number, launch in enumerate(launches):
        lines.append(encode_line({**launch.about, "launch": number}))
        lines += [
            encode_line(
                {
                    "type": "samples",
                    "launch": number,
                    "mode": sample.mode,
                    "variant": sample.variant,
                    "seconds": sample.seconds.tolist(),
                    "valid": sample.valid.tolist(),
                }
            )
            for sample in launch.samples
        ]
    lines.append(encode_line({"type": "footer", "lines": len(lines) - 1}))
    with replacing(path) as stream:
        stream.writelines(lines)
