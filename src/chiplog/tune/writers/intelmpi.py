"""Intel MPI's I_MPI_ADJUST variables: a preset by its number, for ranges of sizes.

`I_MPI_ADJUST_ALLREDUCE=5:0-512;0:513-4095;2:4096-2147483647`: bounds are inclusive, and 0 is Intel MPI's own choice.
The pieces cover all sizes, since 2021.18 takes a preset for sizes that no piece names, too. Numbers of ranks, as in
`5:0-512@2-4`, are documented, but 2021.18 takes the last preset for all calls then; so a file holds for communicators
of all sizes, and has the rules of one. Beyond 34 pieces the whole variable is ignored. Intel MPI complains at its start
about what it can't take.

Only operations whose message size is the same on every rank are written: of the others Intel doesn't document whether a
size counts one rank's block or all.

Source: I_MPI_ADJUST Family in Intel's developer reference; `impi_info -v I_MPI_ADJUST_ALLREDUCE` for the presets.
"""

from __future__ import annotations

from collections.abc import Collection

from chiplog.errors import CorruptFile, UsageError
from chiplog.tune.check.proof import Trial
from chiplog.tune.choice import Tuning
from chiplog.tune.formats.one_radix import lines, read_lines, settings
from chiplog.tune.ranges import RankRule, rules
from chiplog.tune.settings import MOST_INT
from chiplog.tune.version import Version
from chiplog.tune.writer import TuningFormat, TuningWriter, only_format

PREFIX = "I_MPI_ADJUST_"
OPERATIONS = ("barrier", "bcast", "reduce", "allreduce")
DEFAULT_PRESET = 0
"""Given: the number of Intel MPI's own choice."""
MOST_PIECES = 34
"""Given: Intel MPI ignores a variable of more pieces."""
SAYS = {"I_MPI_DEBUG": "4"}
"""With it Intel MPI says which of these variables it ignores."""
COMPLAINT = "Incorrect "
NO_PRESET = "9999"


def variable_of(operation: str) -> str:
    """The operation's variable; UsageError where its sizes are not known."""
    if operation not in OPERATIONS:
        raise UsageError(
            f"--operation {operation}: how Intel MPI counts its sizes is not documented; rules are written for "
            f"{', '.join(OPERATIONS)}."
        )
    return PREFIX + operation.upper()


def offered(operation: str, _: Version) -> Collection[str]:
    """Nothing by a model: presets have numbers, no names."""
    variable_of(operation)
    raise UsageError(
        "--for intelmpi: Intel MPI's presets are numbers, whose times no model knows; race them with --measure."
    )


def text(tuning: Tuning, _: Version) -> str:
    """One variable; comments only where nothing leaves the default."""
    remark = f"Intel MPI: {tuning.operation}, by {tuning.model}"
    ruled = [entry for entry in rules(tuning) if any(rule.key for rule in entry.sizes)]
    if not ruled:
        return lines({}, remark)
    if len(ruled) > 1:
        raise UsageError(
            f"--ranks: rules differ between {ruled[0].first_ranks} and {ruled[1].first_ranks} ranks, and Intel MPI "
            "takes one for all; give one number of ranks."
        )
    pieces = _pieces(ruled[0])
    if len(pieces) > MOST_PIECES:
        raise UsageError(
            f"--sizes: {len(pieces)} ranges of sizes are more than the {MOST_PIECES} that Intel MPI takes; give fewer."
        )
    where = f"only for programs whose communicators have {ruled[0].first_ranks} ranks: it holds for all of them"
    return lines({variable_of(tuning.operation): ";".join(pieces)}, remark, where)


def _pieces(entry: RankRule) -> list[str]:
    """A preset for each range of sizes, without a gap."""
    pieces = []
    for place, rule in enumerate(entry.sizes):
        native = rule.key.native if rule.key else None
        number = DEFAULT_PRESET if native is None else native.number
        following = entry.sizes[place + 1 :]
        last = following[0].first_bytes - 1 if following else MOST_INT
        pieces.append(f"{number}:{rule.first_bytes}-{last}")
    return pieces


def proof(trial: Trial) -> tuple[bool, str]:
    """Whether Intel MPI takes every variable as it is, and complains about each where its preset is none."""
    try:
        settings = read_lines(trial.path)
    except CorruptFile as error:
        return False, str(error)
    if not settings or not all(name.startswith(PREFIX) for name in settings):
        return False, f"it sets nothing, or other variables than {PREFIX}*"
    with_file = trial.runner.run({**settings, **SAYS})
    if not with_file.is_done:
        return False, f"the MPI does not start with it: {with_file.said}"
    complaints = [line for line in with_file.output.splitlines() if COMPLAINT in line]
    if complaints:
        return False, complaints[0].strip()
    marked = trial.runner.run({**dict.fromkeys(settings, NO_PRESET), **SAYS})
    for name in settings:
        if f"{name.removeprefix(PREFIX)}={NO_PRESET}" not in marked.output:
            return False, f"the MPI says nothing about {name}={NO_PRESET}, so it ignores {name}"
    return True, (
        f"the MPI starts with it and ignores nothing of it, while of {next(iter(settings))}={NO_PRESET} it says that "
        "there is no such preset"
    )


FORMAT = TuningFormat(offered, text, settings)
INTELMPI = TuningWriter(
    name="intelmpi",
    summary="Intel MPI, --measure only: presets of barrier, bcast, reduce, allreduce by ranks and sizes",
    format_for=only_format(FORMAT),
    proof=proof,
    mpi="intel",
)
