"""`chiplog fit`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import JsonOption, RunArgument, TargetOption, names, option
from chiplog.cli.output import note, say, write_json
from chiplog.cli.parameters import Option, OutputFile
from chiplog.errors import UsageError
from chiplog.output_file import is_standard_output

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset
    from chiplog.fitting.result import Fit


@dataclass(frozen=True)
class FittingOptions:
    """Which models are fitted, and how."""

    model: str | None = option(
        None,
        "--model",
        "--models",
        metavar="NAME[,NAME ...]",
        help="See: chiplog list models; by default loggp, or what suits the patterns of the run.",
    )
    method: str | None = option(
        help="prtt, culler, kielmann, bell, one-to-many, k=all, k=1, k=max or all; by default each model's own."
    )
    statistic: str = option("median", help="What stands for a series: median, minimum or mean.")
    seed: int = option(0, help="Of the bootstrap.")  # Given: as `FitRequest` has it.


def fit(
    run: RunArgument,
    *,
    fitting: FittingOptions,
    out: Annotated[
        Path | None,
        OutputFile("-o", "--output", metavar="MODEL.json", help="Write a model file."),
    ] = None,
    target: TargetOption = None,
    details: Annotated[
        bool, Option("--details", help="Print all that the report has of the fits.")
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Fit models to a run.

    The results are parameters with intervals, protocol changes and errors.
    """
    from chiplog.dataset.run_file import read_run
    from chiplog.dataset.series import part_or_target
    from chiplog.fitting.fit import fit_all
    from chiplog.fitting.request import FitRequest, left_out_lines

    dataset = part_or_target(read_run(run), target)
    models, method = _models(fitting.model, dataset, run), fitting.method
    request = FitRequest(models, method, statistic=fitting.statistic, seed=fitting.seed)
    outcome = fit_all(dataset, request)
    for line in left_out_lines(outcome.left_out):
        note(line)
    if not (fits := outcome.fits):
        raise _nothing_fitted(dataset, ", ".join(models), run)
    from chiplog.fitting.model_file import fits_to_json, write_model

    if out is not None:
        write_model(out, fits)
    if json_file:
        write_json(json_file, fits_to_json(fits))
    if json_file != "-" and not is_standard_output(out):
        _show(fits, dataset, run, details=details)


def _models(asked: str | None, dataset: Dataset, run: Path) -> tuple[str, ...]:
    """The models that are asked for, or the one that suits the run; UsageError where none does."""
    from chiplog.fitting.choice import first_model

    if asked is not None:
        return names(asked, "--model")
    model = first_model(dataset)
    if model is None:
        raise _nothing_fitted(dataset, "loggp", run)
    return (model,)


def _show(fits: tuple[Fit, ...], dataset: Dataset, run: Path, *, details: bool) -> None:
    if details:
        from chiplog.cli.tables import print_fits

        print_fits(fits, dataset, run)
    else:
        from chiplog.cli.fit_text import fits_text

        say(fits_text(fits))


def _nothing_fitted(dataset: Dataset, model: str, run: Path) -> UsageError:
    """An error that says which models can be fitted instead."""
    from chiplog.fitting.fit import fit_all, models_for
    from chiplog.fitting.request import FitRequest

    suited = fit_all(dataset, FitRequest(models_for(dataset), replicates=2)).fits
    others = ", ".join(dict.fromkeys(suited_fit.model for suited_fit in suited))
    return UsageError(
        f"--model: {model} can't be fitted to this run; it accepts {others}."
        if others
        else f"{run}: no model can be fitted to what it holds{_holds(dataset)}; chiplog report shows its times."
    )


def _holds(dataset: Dataset) -> str:
    """What a run holds that no model is about, in parentheses."""
    is_survey = any(series.pattern == "all_pairs" for series in dataset.series)
    return " (rounds of all pairs, as of chiplog survey)" if is_survey else ""
