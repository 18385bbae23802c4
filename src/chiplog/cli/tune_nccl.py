"""`chiplog tune nccl`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from chiplog.cli.options import JsonOption
from chiplog.cli.output import note, say, wrapped, write_json
from chiplog.cli.parameters import Argument, OutputFile
from chiplog.output_file import is_standard_output


def tune_nccl(
    runs: Annotated[
        list[str],
        Argument(
            metavar="NAME=FILE...",
            help="Output of nccl-tests, a file a launch: default=FILE, or what was forced, "
            "ring/simple=FILE or ring/simple/8=FILE with 8 channels.",
        ),
    ],
    out: Annotated[
        Path, OutputFile("-o", "--output", metavar="FILE", help="For NCCL_TUNER_CONFIG_FILE.")
    ],
    json_file: JsonOption = None,
) -> None:
    """Choose NCCL's algorithms and protocols from runs of nccl-tests.

    A rule is written only where it is surely faster than the default.
    """
    from chiplog.tune.nccl.tuning import tune_nccl as tune
    from chiplog.tune.nccl.tuning import verdict_text

    tuning = tune(runs, out)
    write_json(json_file, tuning.to_json())
    if json_file != "-" and not is_standard_output(out):
        for verdict in tuning.verdicts:
            say(wrapped(verdict_text(verdict), "  "))
        say(f"{len(tuning.rules)} rules in {out}")
    if tuning.has_unknown_channels:
        note(
            "rules without a number of channels: NCCL's example plug-in gives such calls 1 channel; name the runs "
            "ring/simple/8, with NCCL_MIN_NCHANNELS=8 and NCCL_MAX_NCHANNELS=8."
        )
