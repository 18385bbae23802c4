"""What an application's communication costs as a page, and what would change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chiplog.application.result import AppResult, Replay, Saving, Savings
from chiplog.jobs.application_tables import (
    call_map,
    call_table,
    pair_matrix,
    pair_table,
    rank_table,
    size_table,
)
from chiplog.jobs.replay import ReplayBy
from chiplog.jobs.replay_picture import ReplayPicture, replay_picture
from chiplog.jobs.savings import TracedProgram
from chiplog.jobs.sensitivity import curves
from chiplog.report import format
from chiplog.report.application_words import (
    BETTER,
    PARTS_OF_PATH,
    communication_sentence,
    gain_words,
    replay_sentence,
    saved_share,
    saving_words,
    tolerance_sentence,
)
from chiplog.report.document import (
    Block,
    Bullets,
    Copies,
    Copy,
    Document,
    Figure,
    Inline,
    Paragraph,
    Section,
    Table,
    bad,
    figure_section,
    line,
    muted,
    number_columns,
    strong,
    text_columns,
)
from chiplog.report.plot import Axis, Plot, PlotMark, PlotSeries
from chiplog.simulation.sensitivity import Sensitivity, SensitivityCurve


@dataclass(frozen=True)
class ReplayPictures:
    """What a page shows of a replay besides its result."""

    schedule: ReplayPicture
    curves: tuple[SensitivityCurve, ...]


def replay_pictures(program: TracedProgram, by: ReplayBy) -> ReplayPictures:
    """By further simulations of the trace; RunFailed as of `simulate`."""
    return ReplayPictures(replay_picture(program.schedule, by), curves(program.schedule, by))


def application_page(
    result: AppResult, title: str, hosts: Sequence[str] = (), pictures: ReplayPictures | None = None
) -> Document:
    """The page; `hosts` are those of the ranks, and `pictures` are there where the result has a replay."""
    subtitle = line(muted(f"{format.count(result.ranks)} ranks, by {result.source}"))
    replay = result.replay
    sections = [Section("summary", line("In short"), tuple(_summary(result)))]
    if replay is not None and replay.savings is not None:
        sections.append(_savings(replay.savings, replay))
    sections += _traced(result, hosts)
    if replay is not None:
        sections += _replayed(replay, pictures)
    return Document(title, subtitle, tuple(sections))


def _summary(result: AppResult) -> list[Block]:
    blocks: list[Block] = [
        Paragraph(trust_line(result)),
        Paragraph(line(communication_sentence(result))),
    ]
    replay = result.replay
    if replay is not None:
        blocks.append(Paragraph(line(replay_sentence(replay))))
    notes = [*result.notes, *(replay.notes if replay else ())]
    if notes:
        blocks.append(Bullets(tuple(line(f"{note[0].upper()}{note[1:]}.") for note in notes)))
    return blocks


def trust_line(result: AppResult) -> Inline:
    """Whether to rely on what follows, and why."""
    replay = result.replay
    if replay is None:
        if result.notes:
            return line(
                strong("With care"), f": what was traced is not complete: {result.notes[0]}."
            )
        return line(strong("As traced"), ": all that follows was measured; no model is in it.")
    if replay.rejected is not None:
        return line(bad("Not to be relied on"), f": {replay.rejected}.")
    if replay.extrapolated is not None:
        return line(strong("With care"), f": extrapolated, {replay.extrapolated}.")
    if not replay.traced_seconds:
        return line(
            strong("With care"), ": the trace has no times that the model could be compared with."
        )
    off = format.percent(abs(replay.seconds / replay.traced_seconds - 1.0))
    if replay.low <= replay.traced_seconds <= replay.high:
        return line(
            strong("The model explains the trace"), f": it is {off} off, within its interval."
        )
    return line(
        strong(f"The model is {off} off the traced time"),
        ": if it is that of the machine where the trace was taken, smaller savings than that are not sure; of another "
        "machine, this is what the other machine changes.",
    )


def _traced(result: AppResult, hosts: Sequence[str]) -> list[Section]:
    sections = []
    if result.has_times:
        ranks = (rank_table(result), call_map(result))
        sections.append(Section("ranks", line("Time by rank"), ranks))
    sections.append(Section("calls", line("Time by call"), (call_table(result),)))
    if result.sizes:
        sections.append(Section("sizes", line("Message sizes"), (size_table(result),)))
    if result.pairs:
        matrix = pair_matrix(result, hosts)
        blocks: tuple[Block, ...] = (pair_table(result),)
        sections.append(
            Section(
                "pairs", line("Who sends to whom"), blocks if matrix is None else (matrix, *blocks)
            )
        )
    return sections


def _savings(savings: Savings, replay: Replay) -> Section:
    items = tuple(_saving(row, replay.seconds) for row in savings.rows)
    blocks: list[Block] = [Paragraph(line("Nothing that was tried surely saves time."))]
    if items:
        explanation = line(
            muted(
                "Each alone; together they may save less. Intervals are of the difference, with the same draws of the "
                "model before and after; what may save nothing is left out."
            )
        )
        blocks = [Bullets(items), Paragraph(explanation)]
    copies = tuple(Copy("rankfile", row.file) for row in savings.rows if row.file is not None)
    if copies:
        blocks.append(Copies(copies))
    if savings.untried:
        blocks.append(Bullets(tuple(line(f"Not tried: {reason}.") for reason in savings.untried)))
    return Section("savings", line("What to change"), tuple(blocks))


def _saving(row: Saving, seconds: float) -> Inline:
    what = f"{row.what[0].upper()}{row.what[1:]}"
    return line(strong(what), f" {saving_words(row, seconds)}.")


def _replayed(replay: Replay, pictures: ReplayPictures | None) -> list[Section]:
    sections = []
    if pictures is not None:
        sections.append(_critical_path(replay, pictures.schedule))
    if replay.sensitivity is not None or pictures is not None:
        title, blocks = line("What the network matters"), _sensitivity(replay.sensitivity)
        shown = tuple(map(_curve, pictures.curves if pictures else ()))
        sections.append(Section("sensitivity", title, blocks, shown))
    if replay.alternatives:
        sections.append(
            Section("alternatives", line("On other networks"), (_alternatives(replay),))
        )
    return sections


def _critical_path(replay: Replay, shown: ReplayPicture) -> Section:
    blocks: list[Block] = []
    if replay.critical_path is not None:
        shares = zip(PARTS_OF_PATH, replay.critical_path, strict=True)
        text = ", ".join(f"{format.percent(share)} {part}" for part, share in shares)
        blocks.append(Paragraph(line(f"Along it the time is {text}.")))
    if shown.picture is not None:
        blocks.append(shown.picture)
    blocks.append(shown.by_rank)
    return Section("critical-path", line("The critical path"), tuple(blocks))


def _sensitivity(sensitivity: Sensitivity | None) -> tuple[Block, ...]:
    if sensitivity is None:
        return ()
    rows = []
    for row in sensitivity.gains:
        share, ends = gain_words(row)
        rows.append((line(BETTER[row.parameter]), line(share), line(ends or format.NOTHING)))
    columns = (*text_columns("If better"), *number_columns("Saves", "95 %"))
    table = Table(line("Which share of the time a better parameter saves."), columns, tuple(rows))
    tolerances = tuple(line(tolerance_sentence(row)) for row in sensitivity.tolerances)
    return table, Bullets(tolerances)


def _curve(curve: SensitivityCurve) -> Section:
    is_latency = curve.parameter == "L"
    names = ("latency L", "s") if is_latency else ("bandwidth 1/G", "B/s")
    values = curve.values if is_latency else tuple(1.0 / value for value in curve.values)
    now = curve.now if is_latency else 1.0 / curve.now
    trace = PlotSeries(
        "time", "line", "loggp", values, curve.seconds, curve.low, curve.high, dots=True
    )
    plot = Plot(
        f"time-over-{curve.parameter}",
        Axis(*names, ("log", "linear")),
        Axis("time", "s", ("linear", "log")),
        (trace,),
        (PlotMark(now, now, "now", "crossing"),),
    )
    caption = line(
        "The application's time by the model. "
        + (
            "L is that of the shortest messages; all others change in the same ratio."
            if is_latency
            else "1/G is that of the longest messages; all others change in the same ratio."
        )
    )
    title = "Time over latency" if is_latency else "Time over bandwidth"
    numbers = _curve_numbers(curve, values, now, *(("L", "s") if is_latency else ("1/G", "B/s")))
    return figure_section(plot.identifier, Figure(title, caption, plot, numbers))


def _curve_numbers(
    curve: SensitivityCurve, values: Sequence[float], now: float, name: str, unit: str
) -> Table:
    rows = tuple(
        (
            line(format.brief(value, unit)),
            line(format.value(seconds, "s")),
            line(
                f"[{format.value(low, 's')}, {format.value(high, 's')}]"
                if low < high
                else format.NOTHING
            ),
        )
        for value, seconds, low, high in zip(
            values, curve.seconds, curve.low, curve.high, strict=True
        )
    )
    columns = number_columns(name, "Time", "95 %")
    now_text = f"Now {name} is {format.value(now, unit)}."
    return Table(line(now_text), columns, rows, in_terminal=False)


def _alternatives(replay: Replay) -> Table:
    rows = []
    for row in replay.alternatives:
        seconds, interval = format.value_and_interval(row.seconds, row.low, row.high, "s")
        rows.append((line(row.what), line(seconds), line(interval), line(saved_share(row))))
    columns = (
        *text_columns("With, or by"),
        *number_columns("Time", "95 %", "Against the replay"),
    )
    return Table(line("The same trace under other circumstances."), columns, tuple(rows))
