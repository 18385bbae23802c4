"""`chiplog share`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from chiplog.cli.options import TargetOption
from chiplog.cli.output import note
from chiplog.cli.parameters import Argument, Option, OutputFile
from chiplog.output_file import is_standard_output, write_text


def share(
    model_file: Annotated[
        Path,
        Argument(
            metavar="MODEL.json", help="A model file of chiplog fit -o, or a folder of chiplog run."
        ),
    ],
    name: Annotated[
        str, Option(metavar="NAME", help='What others see, e.g. "2 nodes, 100G Ethernet".')
    ],
    out: Annotated[
        str,
        OutputFile(
            "-o", "--output", metavar="FILE.json", help="The file to write; - is standard output."
        ),
    ],
    *,
    target: TargetOption = None,
) -> None:
    """Write a machine as one small file that others may see.

    It holds parameters, protocol changes, half round trips and what exchanges took, and no name of a host.
    """
    from chiplog.fitting.model_file import json_text, read_model
    from chiplog.fitting.origin import of_target
    from chiplog.jobs.shared_machine import shared_machine

    fits = read_model(model_file)
    if target is not None:
        fits = of_target(fits, target, str(model_file))
    write_text(out, json_text(shared_machine(fits, name)))
    if not is_standard_output(out):
        note(f"{name} is in {out}; read it before you show it to others.")
