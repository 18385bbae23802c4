"""The file with all raw samples: checksummed JSON lines with header and footer, like a run file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chiplog import __version__
from chiplog.bench.launched import Launched
from chiplog.dataset.lines import encode_line
from chiplog.output_file import replacing

SCHEMA = "chiplog.bench-samples/1"


def write_samples(path: Path, launches: Sequence[Launched], command: Sequence[str]) -> None:
    """Header, each launch with a line a mode and variant, footer; RunFailed where it can't be written."""
    header = {
        "type": "header",
        "schema": SCHEMA,
        "chiplog": __version__,
        "command": list(command),
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
