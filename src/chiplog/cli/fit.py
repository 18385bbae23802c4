"""`chiplog fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.arguments import RunArgument, names
from chiplog.cli.output import JsonOption, TargetOption, write_json


def fit(
    run: RunArgument,
    model: Annotated[
        str, typer.Option("--model", metavar="NAME[,NAME ...]", help="See: chiplog list models.")
    ] = "loggp",
    method: Annotated[
        str | None,
        typer.Option(
            help="prtt, culler, kielmann, bell, one-to-many, k=all, k=1, k=max or all; by default each model's own."
        ),
    ] = None,
    statistic: Annotated[
        str, typer.Option(help="What stands for a series: median, minimum or mean.")
    ] = "median",
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="MODEL.json", help="Write a model file."),
    ] = None,
    target: TargetOption = None,
    json_file: JsonOption = None,
) -> None:
    """Fit models to a run: parameters with intervals, protocol changes, errors."""
    from chiplog.dataset.run_file import read_run
    from chiplog.fit.origin import of_target
    from chiplog.fit.run import fit as fit_models

    dataset = read_run(run)
    models = names(model, "--model")
    fits = fit_models(dataset, models, method=method, statistic=statistic, seed=seed)
    fits = of_target(fits, target, str(run))
    if out is not None:
        from chiplog.fit.model_file import write_model

        write_model(out, fits)
    if json_file:
        from chiplog.fit.model_file import fits_to_json

        write_json(json_file, fits_to_json(fits))
    elif out is None:
        from chiplog.cli.tables import print_fits

        print_fits(fits, dataset, run)
