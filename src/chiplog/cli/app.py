"""The commands, put together. Only signatures are imported here: what a command needs, it imports when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from chiplog import __version__
from chiplog.cli.bench import bench
from chiplog.cli.changes import changes
from chiplog.cli.check_tuning import check_tuning
from chiplog.cli.compare import compare
from chiplog.cli.doctor import doctor
from chiplog.cli.export import export
from chiplog.cli.fit import fit
from chiplog.cli.import_file import import_file
from chiplog.cli.library import library_app
from chiplog.cli.list_names import list_names
from chiplog.cli.measure import measure
from chiplog.cli.predict import predict
from chiplog.cli.probe import probe_app
from chiplog.cli.report import report
from chiplog.cli.run import run
from chiplog.cli.schedule import schedule
from chiplog.cli.simulate import simulate
from chiplog.cli.tune import tune

app = typer.Typer(
    name="chiplog",
    help="Measure how a machine really communicates, fit the LogP family of models, show how far each is off.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"chiplog {__version__}")
        raise typer.Exit


@app.callback()
def chiplog(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Measure how a machine really communicates, fit the LogP family of models, show how far each is off."""


app.command()(run)
app.command()(measure)
app.command("import")(import_file)
app.command()(fit)
app.command()(changes)
app.command()(compare)
app.command()(predict)
app.command()(schedule)
app.command()(simulate)
app.command()(tune)
app.command("check-tuning")(check_tuning)
app.command()(bench)
app.command()(export)
app.command()(report)
app.add_typer(probe_app, name="probe")
app.add_typer(library_app, name="library")
app.command("list")(list_names)
app.command()(doctor)
