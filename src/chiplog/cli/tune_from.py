"""`chiplog tune --from`: what it prints and writes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chiplog.cli.measured_table import print_mistakes, print_verdicts
from chiplog.cli.output import SCREEN_ROWS, aligned, note, say, wrapped, write_json
from chiplog.counts import counted
from chiplog.output_file import is_standard_output, write_files
from chiplog.report import format
from chiplog.tune.from_jobs.tuning import AskedFromJobs, JobTuning, jobs_to_json, tune_from
from chiplog.tune.measured.mistakes import mistakes

if TYPE_CHECKING:
    from chiplog.tune.from_jobs.choose import Missing
    from chiplog.tune.from_jobs.plan import JobPlan

MOST_MISSING = 5
"""Given: what a screen has room for."""


def from_jobs(asked: AskedFromJobs, json_file: str | None, *, details: bool) -> None:
    """Writes the tuning file, and shows what the jobs say and what is missing."""
    tuned = tune_from(asked)
    write_files(tuned.files.texts(asked.out))
    write_json(json_file, jobs_to_json(tuned))
    if json_file != "-" and not is_standard_output(asked.out):
        _print(tuned, details=details)
    settings = " ".join(f"{k}={v}" for k, v in tuned.files.settings(asked.out).items())
    without = "has no rule: without it, all is the same"
    note(f"{asked.out} {f'is in force with {settings}' if tuned.changed else without}")


def _print(tuned: JobTuning, *, details: bool) -> None:
    choices = tuned.choices
    ranks = sorted({verdict.cell.ranks for verdict in choices.verdicts})
    jobs = counted(len(choices.jobs), "job")
    counts = ", ".join(map(str, ranks))
    say(wrapped(f"{choices.operation}, {tuned.mpi}, {counts} ranks, {jobs}: {_answer(tuned)}"))
    print_verdicts(choices.verdicts, details=details)
    if tuned.changed:
        say(
            wrapped("Between two sizes of one choice nothing was measured; the rule goes on there.")
        )
    print_mistakes(mistakes(choices.verdicts), details)
    _print_missing(tuned, details=details)
    if tuned.plan is not None:
        _print_plan(tuned.plan, details=details)
    if tuned.left_out and not details:
        say(
            f"{counted(len(tuned.left_out), 'algorithm is', 'algorithms are')} left out (--details)"
        )
    for name, reason in tuned.left_out.items() if details else ():
        say(wrapped(f"left out: {name}: {reason}", "  "))


def _answer(tuned: JobTuning) -> str:
    if not tuned.changed:
        return "the default stays at all sizes."
    return (
        f"{tuned.changed} of {counted(len(tuned.choices.verdicts), 'size')} leave the default; "
        f"geometric mean of the gain over all sizes {tuned.gain:.2f}."
    )


def _print_missing(tuned: JobTuning, *, details: bool) -> None:
    missing = tuned.choices.missing
    for entry in missing if details else missing[:MOST_MISSING]:
        say(wrapped(f"missing: {_sentence(entry)}", "  "))
    if len(missing) > MOST_MISSING and not details:
        say(f"{len(missing) - MOST_MISSING} more are missing (--details)")


def _sentence(entry: Missing) -> str:
    sizes = [format.exact_bytes(size) for size in entry.message_bytes]
    between = sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return f"{entry.what}, for {entry.place}, {between}; without it the default stays"


def _print_plan(plan: JobPlan, *, details: bool) -> None:
    """What to measure next, the most gain for its cost first."""
    if not plan.cells:
        say("plan: nothing that is worth measuring fits into the time")
        return
    say(
        wrapped(
            f"plan: measure this next, each beside the default: {format.duration(plan.seconds)}; the expected "
            f"regret is {_share(plan.expected_regret)} now, and {_share(plan.regret_left)} when all of it is decided"
        )
    )
    table = [("ranks", "bytes", "algorithm", "jobs", "takes", "expected gain")]
    table += [
        (
            str(planned.cell.place.ranks),
            format.exact_bytes(planned.cell.message_bytes),
            planned.cell.algorithm,
            str(planned.jobs),
            format.duration(planned.seconds),
            f"{math.exp(planned.expected_gain):.2f}",
        )
        for planned in (plan.cells if details else plan.cells[:SCREEN_ROWS])
    ]
    say(aligned(table))
    if len(plan.cells) > SCREEN_ROWS and not details:
        say(f"{counted(len(plan.cells) - SCREEN_ROWS, 'more row')} (--details)")


def _share(log: float) -> str:
    return format.percent(math.expm1(log))
