"""`chiplog tune` as a function."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chiplog.fitting.model_file import read_model
from chiplog.fitting.origin import of_target
from chiplog.plan.sizes import parse_ranks, parse_sizes
from chiplog.tune.choice import Tuning, without_far_choices
from chiplog.tune.choose import choose
from chiplog.tune.writer import WRITERS, TuningFiles

DEFAULT_SIZES = "1:1MiB:1"


@dataclass(frozen=True)
class Written:
    """A tuning, and its files."""

    tuning: Tuning
    files: TuningFiles
    can_be_proved: bool
    """Whether `chiplog check-tuning` can tell that it is in force."""


def tune(
    model_file: str | Path,
    operation: str,
    ranks: str,
    program: str,
    out: str | Path,
    *,
    version: str | None = None,
    mpi: str | None = None,
    sizes: str = DEFAULT_SIZES,
    model: str | None = None,
    target: str | None = None,
    anyway: bool = False,
    extrapolate: bool = False,
) -> Written:
    """What is fastest for `ranks` ("64", "4,8" or "2:1024") by the model file, as the file `out` for `program`.

    `target` is which target of a model file that holds several.

    A barrier is asked for at every number of ranks, other operations at powers of two and both ends, and at `sizes`.
    A fit that its own check rejects is used `anyway` only, and beyond twice the ranks that the model was measured over
    there are rules with `extrapolate` only. Raises UsageError, also where the release can't take such a
    file.
    """
    writer = WRITERS.load(program)
    chosen, release = writer.format_for(Path(out), version, mpi)
    is_barrier = operation == "barrier"
    tuning = choose(
        of_target(read_model(model_file), target, str(model_file)),
        operation,
        parse_ranks(ranks, every=is_barrier),
        chosen.offered(operation, release),
        sizes=(1,) if is_barrier else parse_sizes(sizes),
        model=model,
        peers=chosen.peers,
        anyway=anyway,
    )
    if not extrapolate:
        tuning = without_far_choices(tuning)
    return Written(tuning, chosen.files(tuning, release), writer.proof is not None)
