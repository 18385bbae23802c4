"""`chiplog tune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.arguments import names_help
from chiplog.cli.output import JsonOption, TargetOption, note, write_json, write_text


def tune(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL.json", help="A model file, from `chiplog fit -o`.")
    ],
    program: Annotated[
        str, typer.Option("--for", metavar="PROGRAM", help="Whose tuning file it is: see below.")
    ],
    out: Annotated[Path, typer.Option("-o", metavar="FILE", help="The tuning file to write.")],
    operation: Annotated[str, typer.Option(help="See: chiplog list operations")] = "barrier",
    ranks: Annotated[str, typer.Option(help="Numbers of ranks: 64, or 2:1024.")] = "2:1024",
    version: Annotated[
        str | None, typer.Option(metavar="V", help="The release; that found here by default.")
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option(metavar="MPICXX", help="The MPI's C++ compiler, where there are several."),
    ] = None,
    sizes: Annotated[str, typer.Option(help="Message sizes, of all but barrier.")] = "1:1MiB:1",
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which of the file's models to use.")
    ] = None,
    target: TargetOption = None,
    details: Annotated[
        bool, typer.Option("--details", help="The ranking of all algorithms, too.")
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Write a tuning file: what the model says is fastest, where that is sure; elsewhere the default stays."""
    from chiplog.cli.tuning_table import print_tuning
    from chiplog.tune.result import tuning_to_json
    from chiplog.tune.run import tune as tune_function

    written = tune_function(
        model_file,
        operation,
        ranks,
        program,
        out,
        version=version,
        mpi=mpi,
        sizes=sizes,
        model=model,
        target=target,
    )
    write_text(out, written.text)
    settings = written.settings()
    if json_file:
        write_json(json_file, tuning_to_json(written.tuning, settings))
    else:
        print_tuning(written.tuning, details=details)
    note(f"{out} is in force with " + " ".join(f"{k}={v}" for k, v in settings.items()))
    if written.can_be_proved:
        note(f"prove it: chiplog check-tuning {out} --for {program}")


def epilog() -> str:
    """The programs that tuning files are written for."""
    from chiplog.tune.writer import WRITERS

    return names_help("--for PROGRAM", WRITERS.all())
