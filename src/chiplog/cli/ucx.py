"""`chiplog ucx`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import (
    COMMAND,
    DEFAULT_SEED,
    DEFAULT_TIME_LIMIT,
    SIZES,
    JsonOption,
    RendezvousOption,
    TimeLimitOption,
    option,
)
from chiplog.cli.output import LABEL, note, say, wrapped, write_json
from chiplog.cli.parameters import Argument, OutputFile
from chiplog.output_file import is_standard_output

if TYPE_CHECKING:
    from chiplog.tune.ucx.result import UcxTuning


@dataclass(frozen=True)
class UcxRanksOptions:
    """The two ranks, and what is measured between them."""

    sizes: str = option("8:4MiB:1", metavar=SIZES, help="Sizes at which each protocol is measured.")
    # Given: as `UcxOptions` has it.
    launches: int = option(6, help="Launches of each protocol.")
    launcher: str | None = option(metavar=COMMAND, help='Starts two ranks, e.g. "srun -N 2".')
    rendezvous: RendezvousOption = None
    time_limit: TimeLimitOption = DEFAULT_TIME_LIMIT
    seed: int = option(DEFAULT_SEED, help="Of the orders, and of the sizes held out.")


def ucx(
    target: Annotated[
        str,
        Argument(
            metavar="[TARGET]",
            help="transport[:options], e.g. ucx, ucx:tls=tcp (see: chiplog list transports).",
        ),
    ] = "ucx",
    *,
    how: UcxRanksOptions,
    out: Annotated[
        Path | None,
        OutputFile(
            "-o", "--output", metavar="FILE", help="The environment file, for a shell's `.`."
        ),
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Find UCX's thresholds by measurement.

    The file sets one only where a race with what is in force was won.
    """
    from chiplog.measurement.start import Start
    from chiplog.tune.ucx.tuning import UcxOptions, tune_ucx

    start = Start(how.launcher, rendezvous=how.rendezvous, time_limit=how.time_limit)
    options = UcxOptions(how.sizes, how.launches, how.seed, start)
    tuning = tune_ucx(target, out, options, tell=note)
    write_json(json_file, tuning.to_json())
    if json_file != "-" and not is_standard_output(out):
        _print(tuning, out)


def _print(tuning: UcxTuning, out: Path | None) -> None:
    from chiplog.tune.ucx.result import ratio_text, settings_text, speed_text, threshold_text

    say(wrapped(f"UCX {tuning.version} over {tuning.target}, {tuning.where}"))
    for threshold in tuning.thresholds:
        say(wrapped(f"  {threshold_text(threshold)}", "    "))
    for speed in tuning.speeds:
        say(wrapped(f"  {speed_text(speed)}", "    "))
    say(wrapped(f"in force   {tuning.now}", LABEL))
    if tuning.then is not None:
        say(wrapped(f"raced      {settings_text(tuning.tried)}: {tuning.then}", LABEL))
    for row in tuning.race:
        say(wrapped(f"  {ratio_text(row)}", "    "))
    answer = settings_text(tuning.settings) if tuning.settings else "the default stays"
    say(wrapped(f"result     {answer}: {tuning.reason}", LABEL))
    if out is not None and tuning.settings:
        say(f"next       . {out}")
