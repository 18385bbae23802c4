"""What was found, in words, before any number: is there a model to trust, where does the protocol
change, what is unknown.
"""

from __future__ import annotations

from chiplog.comparison.best import is_surely_closer, ranked
from chiplog.comparison.result import ModelRow
from chiplog.counts import counted
from chiplog.dataset.disturbance import oversubscription
from chiplog.fitting.result import Fit
from chiplog.fitting.verdict import FAIR_MEDIAN, quality_of
from chiplog.protocol_changes.change import Change
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Bullets,
    Inline,
    Paragraph,
    Section,
    Span,
    bad,
    joined,
    line,
    plain,
    strong,
)
from chiplog.report.input import TargetReport
from chiplog.report.measured import curve, headline
from chiplog.report.names import (
    jump,
    kind,
    method_name,
    model_name,
    parameter_symbol,
    place,
    seen_in,
    sizes,
    slope_changes,
)
from chiplog.report.parameter_text import bounds, is_known, not_identified
from chiplog.report.ranking import row_of
from chiplog.report.sections.parameters import in_usual_order
from chiplog.report.trust import LEAST_SAID

MOST_PLACES = 2
"""Given: what is said one by one; of more, the table of parameters tells."""


def section(target: TargetReport, key: str) -> Section | None:
    """The verdict in sentences; it exists for every target."""
    blocks: list[Block] = []
    if target.failure:
        blocks.append(Paragraph(line(bad(f"This target failed: {target.failure}"))))
    fit = headline(target)
    if fit is None:
        if not target.failure:
            blocks.append(
                Paragraph(line(bad("No model was fitted: there is nothing to predict with.")))
            )
        return Section(f"{key}-verdict", line("Verdict"), tuple(blocks))
    blocks.append(Paragraph(_prediction(target, fit)))
    items = [_changes(target), *_slopes(fit), *_unidentified(fit), *_alike(target, fit)]
    items += [*_advice(target), *_placement(target)]
    if not target.dataset.complete:
        items.append(
            line(
                bad("The run is not complete: "),
                "it was interrupted or cut short; finish it with --resume.",
            )
        )
    blocks.append(Bullets(tuple(items)))
    return Section(f"{key}-verdict", line("Verdict"), tuple(blocks))


def _prediction(target: TargetReport, fit: Fit) -> Inline:
    name, row = model_name(fit.model), row_of(target, fit)
    error = row.error
    if not fit.segments or not error.points:
        return line(
            bad(f"{name} predicts nothing here"),
            ": the parameters that it would need are not identified; the list below says why.",
        )
    median = format.percent(max(error.median_relative, LEAST_SAID))
    mean, worst = format.percent(error.mean_relative), format.percent(error.max_relative)
    points = counted(error.points, "point")
    basis = (
        f"the {points} that it was fitted to, in-sample"
        if row.in_sample
        else f"{points} that were held out"
    )
    tail = f" {_over(fit)} (median on {basis}; {mean} on average, {worst} at worst)."
    quality = quality_of(error)
    if quality == "good":
        verb = "describes" if row.in_sample else "predicts"
        return line(strong(f"{name} {verb} this transport within {median}"), tail)
    if quality == "rough":
        verb = "describes" if row.in_sample else "predicts"
        return line(strong(f"{name} {verb} this transport only roughly: within {median}"), tail)
    off = median
    if error.median_relative <= FAIR_MEDIAN:
        off = f"a factor of {error.mean_factor:.2f} on average"
    return line(
        bad(f"{name} does not describe this transport: it is off by {off}"),
        tail,
        " Do not predict with it.",
    )


def _over(fit: Fit) -> str:
    round_trips = curve(fit, "half_round_trip")
    if round_trips is not None:
        first, last = float(round_trips.message_bytes.min()), float(round_trips.message_bytes.max())
    else:
        first, last = fit.segments[0].first_bytes, fit.segments[-1].last_bytes
    return (
        f"at {format.message_size(first)}"
        if first == last
        else f"between {sizes(first, last).replace(' to ', ' and ')}"
    )


def _changes(target: TargetReport) -> Inline:
    changes = target.consensus
    if not changes:
        return line("No protocol change was found.")
    opening = "One protocol change: " if len(changes) == 1 else f"{len(changes)} protocol changes: "
    return line(plain(opening, term="change"), *joined(map(_change, changes), "; "), ".")


def _slopes(fit: Fit) -> list[Inline]:
    """Where a new line begins within a protocol: no protocol changes, but part of the model."""
    places = slope_changes(fit)
    if not places:
        return []
    opening = "Its slope changes " if len(places) == 1 else f"Its slope changes {len(places)} times"
    if len(places) > MOST_PLACES:
        return [line(plain(opening, term="regime"), ", as the table of parameters shows.")]
    mark = "" if len(places) == 1 else ": "
    return [line(plain(opening + mark, term="regime"), "; ".join(places), ".")]


def _change(change: Change) -> Inline:
    parts: list[Span] = [strong(place(change)), plain(f" ({kind(change)}")]
    if change.relative_jump is not None:
        parts.append(plain(f", {jump(change)}"))
    if change.seen_in:
        parts += [plain(", seen in "), *seen_in(change)]
    parts.append(plain(")"))
    return tuple(parts)


def _unidentified(fit: Fit) -> list[Inline]:
    """One sentence a parameter: where it is not identified, and why if there is one reason only; one for many."""
    cases_of: dict[str, list[tuple[str, str]]] = {}
    bounded: dict[str, bool] = {}
    for segment in fit.segments:
        for name, parameter in segment.parameters.items():
            if not is_known(parameter):
                where = sizes(segment.first_bytes, segment.last_bytes)
                cases_of.setdefault(name, []).append((where, not_identified(parameter)))
                bounded[name] = bounded.get(name, True) and bool(bounds(parameter))

    def mark(name: str, words: str) -> Span:
        return plain(words) if bounded[name] else bad(words)

    if len(cases_of) > MOST_PLACES:
        usual = in_usual_order(cases_of)
        names = joined(((parameter_symbol(name),) for name in usual), ", ")
        tail = " in some of its regimes; the table of parameters says where and why."
        opening = "Not identified"
        shown = plain(opening) if all(bounded.values()) else bad(opening)
        return [line(shown, ": ", *names, tail)]
    sentences = []
    for name, cases in cases_of.items():
        scope = ", ".join(where for where, _ in cases)
        words = f" ({scope})" if len(cases) < len(fit.segments) else ""
        if len({reason for _, reason in cases}) == 1:
            sentences.append(
                line(parameter_symbol(name), " is ", mark(name, cases[0][1]), f"{words}.")
            )
        else:
            tail = f"{words}; the table of parameters says why."
            sentences.append(
                line(parameter_symbol(name), " is ", mark(name, "not identified"), tail)
            )
    return sentences


def _alike(target: TargetReport, fit: Fit) -> list[Inline]:
    """Why the closest model of the table of errors is not the best one, where that is so."""
    best = row_of(target, fit)
    rows = [
        row
        for row in target.comparison
        if (row.statistic, row.held_out) == (best.statistic, best.held_out)
    ]
    if not rows or best.in_sample or not best.error.points:
        return []
    closest = ranked(rows)[0]
    if closest.model == best.model or is_surely_closer(closest, best):
        return []
    return [
        line(
            f"{_named(closest)} is not surely closer on held-out points than {_named(best)}, the simplest of those "
            "that are alike."
        )
    ]


def _advice(target: TargetReport) -> list[Inline]:
    """How many processes of a node should send, by the closest fit that says so; not from ranks that took turns."""
    advising = [
        fit
        for run in target.runs
        if oversubscription(run.dataset.header) is None
        for fit in run.fits
        if fit.advice
    ]
    if not advising:
        return []
    closest = min(advising, key=lambda fit: fit.error.mean_relative)
    return [line(sentence) for sentence in closest.advice]


def _named(row: ModelRow) -> str:
    return f"{model_name(row.model)} ({method_name(row.method)}, {row.parameters} parameters)"


def _placement(target: TargetReport) -> list[Inline]:
    placement = target.placement
    if placement is None or len(placement.states) < 2:
        return []
    if placement.note:
        return [line(plain("Placement", term="placement"), f": {placement.note}")]
    times = " and ".join(format.brief(s.flag_seconds, "s") for s in placement.states)
    return [
        line(
            plain(f"The cores were in {len(placement.states)} placement states", term="placement"),
            f" (bare flag exchange of {times}): visits in different states are not comparable.",
        )
    ]
