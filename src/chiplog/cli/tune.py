"""`chiplog tune`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chiplog.cli.arguments import names_help
from chiplog.cli.completion import command_or_file
from chiplog.cli.output import AnywayOption, JsonOption, TargetOption, note, write_json
from chiplog.output_file import is_standard_output, write_files

if TYPE_CHECKING:
    from chiplog.tune.writer import TuningFiles


def tune(
    program: Annotated[
        str, typer.Option("--for", metavar="PROGRAM", help="Whose tuning file it is: see below.")
    ],
    out: Annotated[Path, typer.Option("-o", metavar="FILE", help="The tuning file to write.")],
    model_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL.json",
            autocompletion=command_or_file("lint"),
            help="A model file, from `chiplog fit -o`; with --measure it says what is tried.",
        ),
    ] = None,
    operation: Annotated[str, typer.Option(help="See: chiplog list operations")] = "barrier",
    ranks: Annotated[
        str | None,
        typer.Option(
            help="Numbers of ranks: 64, or 2:1024, which is the default; with --measure those started, or 4,8."
        ),
    ] = None,
    version: Annotated[
        str | None, typer.Option(metavar="V", help="The release; that found here by default.")
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option(metavar="MPICXX", help="The MPI's C++ compiler, where there are several."),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Message sizes, of all but barrier; by default powers of 2 to 1 MiB, of 4 with --measure."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which of the file's models to use.")
    ] = None,
    target: TargetOption = None,
    measured: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Race the MPI's algorithms against its default; write sure winners only.",
        ),
    ] = False,
    launcher: Annotated[
        str | None,
        typer.Option(
            help='With --measure: starts the ranks, e.g. "srun -N 8"; else 2, or --ranks.'
        ),
    ] = None,
    budget: Annotated[float, typer.Option(help="With --measure: seconds of the whole.")] = 600.0,
    seed: Annotated[int, typer.Option(help="With --measure: of orders and held-out sizes.")] = 1,
    commutative: Annotated[
        bool,
        typer.Option(
            "--commutative",
            help="With --measure: your programs reduce with commutative operations only.",
        ),
    ] = False,
    samples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --measure: all raw samples; by default FILE of -o and .samples.jsonl.",
        ),
    ] = None,
    from_samples: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="With --measure: choose from these samples again."
        ),
    ] = None,
    anyway: AnywayOption = False,
    details: Annotated[
        bool, typer.Option("--details", help="The ranking of all algorithms, too.")
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Write a tuning file: what the model says, or what measuring proves to be faster; elsewhere the default stays."""
    if measured:
        _measure(
            model_file, program, out, operation, ranks, mpi, sizes, model, target, launcher, budget, seed,
            commutative, samples, from_samples, details, json_file,
        )  # fmt: skip
        return
    from chiplog.cli.tuning_table import print_tuning
    from chiplog.errors import UsageError
    from chiplog.tune.choice import tuning_to_json
    from chiplog.tune.model_tuning import DEFAULT_SIZES
    from chiplog.tune.model_tuning import tune as tune_function

    if model_file is None:
        raise UsageError("MODEL.json: is missing; give a model file, or measure with --measure.")
    written = tune_function(
        model_file,
        operation,
        ranks or "2:1024",
        program,
        out,
        version=version,
        mpi=mpi,
        sizes=sizes or DEFAULT_SIZES,
        model=model,
        target=target,
        anyway=anyway,
    )
    settings = _write(written.files, out)
    if json_file:
        write_json(json_file, tuning_to_json(written.tuning, settings))
    elif not is_standard_output(out):
        print_tuning(written.tuning, details=details)
    note(f"{out} is in force with " + " ".join(f"{k}={v}" for k, v in settings.items()))
    if written.can_be_proved:
        note(f"prove it: chiplog check-tuning {out} --for {program}")


def _measure(
    model_file: Path | None,
    program: str,
    out: Path,
    operation: str,
    ranks: str | None,
    mpi: str | None,
    sizes: str | None,
    model: str | None,
    target: str | None,
    launcher: str | None,
    budget: float,
    seed: int,
    commutative: bool,
    samples: Path | None,
    from_samples: Path | None,
    details: bool,
    json_file: str | None,
) -> None:
    from chiplog.cli.measured_table import print_measured, wanted_budget
    from chiplog.plan.sizes import parse_sizes
    from chiplog.tune.measured.summary import measured_to_json
    from chiplog.tune.measured.tuning import (
        DEFAULT_SIZES,
        Asked,
        choose_again,
        measure,
        parse_ranks,
    )

    counts = parse_ranks(ranks)
    asked = Asked(
        program=program,
        operation=operation,
        out=out,
        ranks=max(counts, default=2),
        sizes=parse_sizes(sizes) if sizes else DEFAULT_SIZES,
        communicators=counts,
        launcher=launcher,
        mpi=mpi,
        budget_seconds=budget,
        seed=seed,
        commutative=commutative,
        model_file=model_file,
        model=model,
        target=target,
    )
    if from_samples is not None:
        tuned = choose_again(asked, from_samples)
    else:
        tuned = measure(asked, samples or out.with_name(out.name + ".samples.jsonl"), note)
    settings = " ".join(f"{name}={value}" for name, value in _write(tuned.files, out).items())
    if json_file:
        content = measured_to_json(operation, tuned.mpi, tuned.summary, tuned.verdicts, tuned.raced)
        write_json(json_file, content)
    elif not is_standard_output(out):
        print_measured(tuned, operation, details=details)
    without = "has no rule: without it, all is the same"
    if tuned.raced.ran_out:
        wanted = wanted_budget(tuned.raced) or "a longer --budget"
        without = f"has no rule, since the budget ended before anything was sure: give {wanted}"
    note(f"{out} {f'is in force with {settings}' if tuned.summary.changed else without}")


def _write(files: TuningFiles, out: Path) -> Mapping[str, str]:
    """Returns the environment that puts them in force."""
    write_files(files.texts(out))
    return files.settings(out)


def epilog() -> str:
    """The programs that tuning files are written for, and the command below this one."""
    from chiplog.tune.writer import WRITERS

    names = names_help("--for PROGRAM", WRITERS.all())
    return f"{names}\n\nTo find the mistakes in a tuning file: chiplog tune lint --help"
