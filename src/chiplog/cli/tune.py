"""`chiplog tune`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.list_names import TABLES
from chiplog.cli.options import (
    COMMAND,
    DEFAULT_SEED,
    SIZES,
    AnywayOption,
    JsonOption,
    ModelNameOption,
    ProgramOption,
    TargetOption,
    names_help,
    option,
)
from chiplog.cli.output import note, write_json
from chiplog.cli.parameters import SECONDS, Argument, Option, OutputFile
from chiplog.errors import UsageError
from chiplog.output_file import is_standard_output, write_files

if TYPE_CHECKING:
    from chiplog.tune.measured.tuning import Asked
    from chiplog.tune.writer import TuningFiles


@dataclass(frozen=True)
class AskedTuning:
    """The tuning file that is asked for, and the calls that it is about."""

    program: ProgramOption
    out: Annotated[
        Path, OutputFile("-o", "--output", metavar="FILE", help="The tuning file to write.")
    ]
    given_files: Annotated[
        list[Path] | None,
        Argument(
            metavar="MODEL.json",
            help="A model file of chiplog fit -o, or a folder of chiplog run; with --measure it says what is tried. "
            "With --from: more FILES.",
        ),
    ] = None
    operation: str = option("barrier", metavar="NAME", help="See: chiplog list operations.")
    ranks: str | None = option(
        metavar="FIRST:LAST|N,...",
        help="Numbers of ranks: 64, or 4,8, or 2:1024, which is the default; with --measure those started.",
    )
    version: str | None = option(metavar="V", help="The release; that found here by default.")
    mpi: str | None = option(
        metavar="MPICXX", help="The MPI's C++ compiler, where there are several."
    )
    sizes: str | None = option(
        metavar=SIZES,
        help="Message sizes, of all but barrier; by default powers of 2 to 1 MiB, of 4 with --measure.",
    )
    model: ModelNameOption = None
    target: TargetOption = None
    extrapolate: bool = option(
        False,
        "--extrapolate",
        help="Write rules for more than twice the ranks that the model was measured over, too.",
    )

    @property
    def model_file(self) -> Path | None:
        """The model file; UsageError where there are several files."""
        from chiplog.collectives.registry import MODULES

        files = self.given_files or []
        for file in files:
            if str(file) in MODULES and not file.exists():
                raise UsageError(f"{file}: is no file; did you mean --operation {file}?")
        if len(files) > 1:
            raise UsageError(f"{files[1]}: one model file is enough; several files go with --from.")
        return files[0] if files else None


@dataclass(frozen=True)
class RacingOptions:
    """How algorithms are raced, or that they are not."""

    measured: bool = option(
        False,
        "--measure",
        help="Race the MPI's algorithms against its default; write sure winners only.",
    )
    launcher: str | None = option(
        metavar=COMMAND,
        help='With --measure: starts the ranks, e.g. "srun -N 8"; else 2, or --ranks.',
    )
    shape: str | None = option(
        metavar="NODESxPROCESSES,...",
        help="With --measure: the jobs to tune for, such as 8x2,4x4; a file for each.",
    )
    # Given: as `Asked` has it.
    budget: float = option(600.0, metavar=SECONDS, help="With --measure: of the whole.")
    seed: int = option(DEFAULT_SEED, help="With --measure: of orders and held-out sizes.")
    commutative: bool = option(
        False,
        "--commutative",
        help="With --measure or --from: your programs reduce with commutative operations only.",
    )
    datatypes: str = option(
        "double,int,byte",
        "--type",
        metavar="TYPES",
        help="With --measure: what your programs send; rules are faster for each.",
    )
    samples: Annotated[
        Path | None,
        OutputFile(
            metavar="FILE",
            help="With --measure: all raw samples; by default FILE of -o and .samples.jsonl.",
        ),
    ] = None
    from_files: list[Path] | None = option(
        None,
        "--from",
        metavar="FILES ...",
        help="Choose from measurements that are there: PICO's results, detail.out, run files, samples of "
        "--measure. With --measure: from these samples again.",
    )
    plan: float | None = option(
        metavar=SECONDS, help="With --from: what to measure next within that time."
    )


def tune(
    *,
    asked: AskedTuning,
    race: RacingOptions,
    anyway: AnywayOption = False,
    details: Annotated[
        bool, Option("--details", help="The ranking of all algorithms, too.")
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Write a tuning file from a model, or from measurements.

    It holds what the model says, or what measuring proves to be faster; elsewhere the default stays.
    """
    if race.plan is not None and (race.measured or not race.from_files):
        raise UsageError("--plan: it goes with --from FILES, without --measure.")
    if race.shape and not race.measured:
        raise UsageError("--shape: a model knows no nodes; measure with --measure.")
    if race.from_files and not race.measured:
        _from(asked, race, json_file, details=details)
    elif race.measured:
        _measure(asked, race, json_file, details=details)
    else:
        _model(asked, json_file, anyway=anyway, details=details)


def _model(asked: AskedTuning, json_file: str | None, *, anyway: bool, details: bool) -> None:
    from chiplog.cli.tuning_table import print_tuning
    from chiplog.tune.choice import tuning_to_json
    from chiplog.tune.model_tuning import DEFAULT_SIZES
    from chiplog.tune.model_tuning import tune as tune_function

    if asked.model_file is None:
        raise UsageError("MODEL.json: is missing; give a model file, or measure with --measure.")
    written = tune_function(
        asked.model_file,
        asked.operation,
        asked.ranks or "2:1024",
        asked.program,
        asked.out,
        version=asked.version,
        mpi=asked.mpi,
        sizes=asked.sizes or DEFAULT_SIZES,
        model=asked.model,
        target=asked.target,
        anyway=anyway,
        extrapolate=asked.extrapolate,
    )
    settings = _write(written.files, asked.out)
    write_json(json_file, tuning_to_json(written.tuning, settings))
    if json_file != "-" and not is_standard_output(asked.out):
        print_tuning(written.tuning, details=details)
    note(f"{asked.out} is in force with " + " ".join(f"{k}={v}" for k, v in settings.items()))
    if written.can_be_proved:
        note(f"prove it: chiplog check-tuning {asked.out} --for {asked.program}")


def _from(asked: AskedTuning, race: RacingOptions, json_file: str | None, *, details: bool) -> None:
    from chiplog.cli.tune_from import from_jobs
    from chiplog.tune.from_jobs.tuning import AskedFromJobs

    for name, given in (("--ranks", asked.ranks), ("--sizes", asked.sizes)):
        if given is not None:
            raise UsageError(f"{name}: --from takes what the files have; leave it out.")
    question = AskedFromJobs(
        program=asked.program,
        operation=asked.operation,
        out=asked.out,
        files=(*(race.from_files or ()), *(asked.given_files or ())),
        version=asked.version,
        mpi=asked.mpi,
        commutative=race.commutative,
        plan_seconds=race.plan,
    )
    from_jobs(question, json_file, details=details)


def _measure(
    asked: AskedTuning, race: RacingOptions, json_file: str | None, *, details: bool
) -> None:
    from chiplog.tune.measured.shapes import file_of, parse_shapes

    question = _asked_race(asked, race)
    shapes = parse_shapes(race.shape) if race.shape else ()
    if shapes and asked.ranks:
        raise UsageError("--ranks: are given by --shape; leave one of them out.")
    if len(shapes) < 2:
        shape = shapes[0] if shapes else None
        _measure_shape(replace(question, shape=shape), race, json_file, details=details)
        return
    if race.samples or race.from_files or is_standard_output(asked.out) or json_file == "-":
        raise UsageError(
            "--shape: of several shapes each has files of its own; name -o and --json."
        )
    share = question.budget_seconds / len(shapes)
    for shape in shapes:
        note(f"{shape}: {shape.text}")
        question_of_shape = replace(
            question, shape=shape, out=file_of(asked.out, shape), budget_seconds=share
        )
        json_of_shape = str(file_of(Path(json_file), shape)) if json_file else None
        _measure_shape(question_of_shape, race, json_of_shape, details=details)
    note("each file is for jobs of its shape: rules know numbers of ranks, not of nodes")


def _measure_shape(
    question: Asked, race: RacingOptions, json_file: str | None, *, details: bool
) -> None:
    from chiplog.cli.measured_table import print_measured, wanted_budget
    from chiplog.tune.measured.summary import measured_to_json
    from chiplog.tune.measured.tuning import choose_again, measure

    out = question.out
    if race.from_files:
        if len(race.from_files) > 1:
            raise UsageError("--from: with --measure it accepts one file; leave --measure out.")
        tuned = choose_again(question, race.from_files[0])
    else:
        samples = race.samples or out.with_name(out.name + ".samples.jsonl")
        tuned = measure(question, samples, note)
    settings = " ".join(f"{name}={value}" for name, value in _write(tuned.files, out).items())
    if json_file:
        content = measured_to_json(
            question.operation, tuned.mpi, tuned.summary, tuned.verdicts, tuned.raced
        )
        write_json(json_file, content)
    if json_file != "-" and not is_standard_output(out):
        print_measured(tuned, question.operation, details=details)
    without = "has no rule: without it, all is the same"
    if tuned.raced.ran_out:
        wanted = wanted_budget(tuned.raced) or "a longer --budget"
        without = f"has no rule, since the budget ended before anything was sure: give {wanted}"
    note(f"{out} {f'is in force with {settings}' if tuned.summary.changed else without}")


def _asked_race(asked: AskedTuning, race: RacingOptions) -> Asked:
    from chiplog.measurement.datatypes import parse_datatypes
    from chiplog.plan.sizes import parse_ranks, parse_sizes
    from chiplog.tune.measured.shapes import parse_shapes
    from chiplog.tune.measured.tuning import DEFAULT_SIZES, Asked

    counts = parse_ranks(asked.ranks, every=False) if asked.ranks else ()
    shapes = parse_shapes(race.shape) if race.shape else ()
    return Asked(
        program=asked.program,
        operation=asked.operation,
        out=asked.out,
        ranks=max([shape.processes for shape in shapes] or counts, default=2),
        sizes=parse_sizes(asked.sizes) if asked.sizes else DEFAULT_SIZES,
        communicators=counts,
        launcher=race.launcher,
        mpi=asked.mpi,
        budget_seconds=race.budget,
        seed=race.seed,
        commutative=race.commutative,
        datatypes=parse_datatypes(race.datatypes),
        model_file=asked.model_file,
        model=asked.model,
        target=asked.target,
    )


def _write(files: TuningFiles, out: Path) -> Mapping[str, str]:
    """Returns the environment that puts them in force."""
    write_files(files.texts(out))
    return files.settings(out)


def epilog() -> str:
    """The programs that tuning files are written for."""
    return names_help("--for PROGRAM", TABLES["tuning-writers"]())
