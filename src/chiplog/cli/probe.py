"""`chiplog probe build` and `chiplog probe list`."""

from __future__ import annotations

from typing import Annotated

from chiplog.cli.options import JsonOption
from chiplog.cli.output import note, note_build, say, write_json
from chiplog.cli.parameters import Option


def build(
    mpi: Annotated[
        str | None,
        Option(
            metavar="MPICXX",
            help="The MPI's C++ compiler, e.g. mpicxx; by default that of the MPI found first.",
        ),
    ] = None,
    jobs: Annotated[int | None, Option(help="Compilers at a time.")] = None,
) -> None:
    """Build the probe with an MPI.

    Where it is in the cache, nothing is built.
    """
    from chiplog.measurement.mpi_at_hand import find_mpi
    from chiplog.measurement.probes import build_probe

    chosen = find_mpi(None, mpi, None)
    note(f"the MPI is {chosen}, by {chosen.mpicxx}.")
    say(str(build_probe(str(chosen.mpicxx), jobs=jobs, progress=note_build).path))


def list_built(json_file: JsonOption = None) -> None:
    """List the base probe, the built ones, and the MPIs to build with."""
    from chiplog.errors import RunFailed
    from chiplog.measurement.mpis import find_mpis
    from chiplog.measurement.probes import base_probe, list_probes

    try:
        base = str(base_probe())
    except RunFailed:
        base = None
    built, mpis = list_probes(), find_mpis()
    if json_file:
        content = {
            "schema": "chiplog.probes/1",
            "base": base,
            "built": [
                {"path": str(probe.path), "key": probe.key, "mpi": probe.mpi.to_json()}
                for probe in built
            ],
            "mpis": [known_mpi.to_json() for known_mpi in mpis],
        }
        write_json(json_file, content)
    if json_file == "-":
        return
    say(f"base   {base or 'missing: install chiplog again'}")
    for probe in built:
        say(f"built  {probe.path}  {probe.mpi}")
    for mpi in mpis:
        say(f"mpi    {mpi.mpicxx}  {mpi}")


COMMANDS = {"build": build, "list": list_built}
