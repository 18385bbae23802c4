"""An operation over several numbers of ranks, and MPIs, as a page: times, and the library over the MPI's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chiplog.benchmarking.launched import LIBRARY, MODES, OWN
from chiplog.benchmarking.result import Bench
from chiplog.benchmarking.statistics import MedianEstimate
from chiplog.collectives.mpis.known import release_in
from chiplog.counts import counted
from chiplog.report import format
from chiplog.report.document import (
    Document,
    Figure,
    Inline,
    Section,
    Table,
    line,
    muted,
    number_columns,
    text_columns,
)
from chiplog.report.plot import Axis, Plot, PlotSeries

BEGINNINGS = {"window": "by windows", "barrier": "after a barrier", "round": "by rounds"}
"""How a mode's samples begin, in words."""
COLOURS = ("loggp", "plogp", "loggps", "hockney", "placement", "logp", "bell")
VARIANTS = {OWN: "the MPI's own", LIBRARY: "chiplog's library"}
Curve = tuple[str, list[int], list[MedianEstimate]]
"""A name, numbers of ranks and what was measured of each."""


def bench_page(benches: Sequence[Bench]) -> Document:
    """`benches` are of one operation and size, as of `bench_each`."""
    first = benches[0]
    ranks = ", ".join(dict.fromkeys(str(bench.ranks) for bench in benches))
    mpis = ", ".join(dict.fromkeys(short_names(benches).values()))
    launches = counted(first.launches, "launch", "launches")
    by = ", ".join([*message_words(first), f"{ranks} ranks", f"{launches} each", mpis])
    sections = [Section("time", line("Time over the number of ranks"), (_times(benches),))]
    if any(bench.ratios for bench in benches):
        ratios = Section("ratio", line("The library over the MPI's own"), (_ratios(benches),))
        sections.insert(0, ratios)
    return Document(first.operation, line(muted(by)), tuple(sections))


def message_words(bench: Bench) -> tuple[str, ...]:
    """The size of a message and the type that the calls name; nothing of a barrier, which has no message."""
    of_type = "" if bench.datatype == "byte" else f" of {bench.datatype}s"
    return tuple(size + of_type for size in format.sizes_of_operation(bench.operation, bench.bytes))


def short_names(benches: Sequence[Bench]) -> dict[str, str]:
    """By what MPIs say of themselves, its beginning; all of it where two begin alike."""
    names = {
        bench.mpi: str(release_in(bench.mpi) or bench.mpi.partition(",")[0]) for bench in benches
    }
    return names if len(set(names.values())) == len(names) else {name: name for name in names}


def _ratios(benches: Sequence[Bench]) -> Figure:
    curves = [
        (
            _name(BEGINNINGS[mode], mpi, benches),
            [bench.ranks for bench in of_mpi],
            [_less_one(bench.ratios[mode].estimate) for bench in of_mpi],
        )
        for mpi, of_mpi in _by_mpi([bench for bench in benches if bench.ratios])
        for mode in MODES
    ]
    caption = line(
        "By how much the library takes longer, with 95 % intervals: below 0 it is faster. How calls begin "
        "decides what is measured: at a common time, after a barrier, or many in a row."
    )
    return _figure("The library over the MPI's own", caption, "ratio", curves, ratio_table(benches))


def _less_one(ratio: MedianEstimate) -> MedianEstimate:
    return MedianEstimate(ratio.value - 1.0, ratio.low - 1.0, ratio.high - 1.0)


def _times(benches: Sequence[Bench]) -> Figure:
    curves = [
        (
            _name(VARIANTS[variant], mpi, benches),
            [bench.ranks for bench in of_mpi],
            [bench.row(bench.mode, variant).seconds for bench in of_mpi],
        )
        for mpi, of_mpi in _by_mpi(benches)
        for variant in dict.fromkeys(row.variant for row in of_mpi[0].rows)
    ]
    caption = line("Medians with 95 % intervals, each in the mode to believe.")
    return _figure("Time over the number of ranks", caption, "s", curves, time_table(benches))


def _figure(
    title: str, caption: Inline, unit: str, curves: Sequence[Curve], numbers: Table
) -> Figure:
    traces = [
        PlotSeries(
            name,
            "line",
            COLOURS[place % len(COLOURS)],
            ranks,
            [estimate.value for estimate in estimates],
            low=[estimate.low for estimate in estimates],
            high=[estimate.high for estimate in estimates],
            dots=True,
        )
        for place, (name, ranks, estimates) in enumerate(curves)
    ]
    axis = Axis("time", "s", ("log", "linear"))
    if unit == "ratio":
        axis = Axis("library against MPI's own", "ratio", ("linear",))
    plot = Plot(
        "time-over-ranks" if unit == "s" else "ratio-over-ranks",
        Axis("ranks", "", ("log", "linear")),
        axis,
        tuple(traces),
    )
    return Figure(title, caption, plot, numbers)


def ratio_table(benches: Sequence[Bench], *, is_brief: bool = False) -> Table:
    """A row for each number of ranks, MPI and way to begin, the way to believe marked; without times if `is_brief`."""
    columns = (
        *number_columns("ranks"),
        *text_columns(*_mpi_title(benches), "calls begin"),
        *number_columns(*(() if is_brief else ("MPI's own", "library")), "ratio", "95 % interval"),
        *text_columns("verdict"),
    )
    times = () if is_brief else (OWN, LIBRARY)
    rows = [
        (
            *_place(bench, mode, benches),
            *(line(_seconds(bench.row(mode, variant).seconds)[0]) for variant in times),
            line(f"{ratio.estimate.value:.3f}"),
            line(f"[{ratio.estimate.low:.3f}, {ratio.estimate.high:.3f}]"),
            line(ratio.verdict),
        )
        for bench in benches
        for mode, ratio in bench.ratios.items()
    ]
    return Table(line("* is the way to believe."), columns, tuple(rows), _reasons(benches))


def time_table(benches: Sequence[Bench], *, is_brief: bool = False) -> Table:
    """A row for each number of ranks, MPI, variant and way to begin, the way to believe marked.

    Without variants and numbers of samples if `is_brief`.
    """
    columns = (
        *number_columns("ranks"),
        *text_columns(*_mpi_title(benches), "calls begin", *(() if is_brief else ("by",))),
        *number_columns("median", "95 % interval", *(() if is_brief else ("samples", "late"))),
    )
    rows = [
        (
            *_place(bench, row.mode, benches),
            *(() if is_brief else (line(row.variant),)),
            *map(line, _seconds(row.seconds)),
            *(() if is_brief else (line(str(row.samples)), line(str(row.invalid)))),
        )
        for bench in benches
        for row in bench.rows
    ]
    return Table(line("* is the way to believe."), columns, tuple(rows))


def _reasons(benches: Sequence[Bench]) -> tuple[Inline, ...]:
    """Why verdicts in the mode to believe are unclear."""
    reasons = (
        f"{_name(counted(bench.ranks, 'rank'), bench.mpi, benches)}: unclear, because {chosen.reason}."
        for bench in benches
        if (chosen := bench.ratios.get(bench.mode)) is not None and chosen.reason
    )
    return tuple(line(reason) for reason in dict.fromkeys(reasons))


def _place(bench: Bench, mode: str, benches: Sequence[Bench]) -> tuple[Inline, ...]:
    mark = " *" if mode == bench.mode else ""
    mpi = [short_names(benches)[bench.mpi]] if _mpi_title(benches) else []
    names = [str(bench.ranks), *mpi]
    return tuple(line(name) for name in (*names, BEGINNINGS[mode] + mark))


def _mpi_title(benches: Sequence[Bench]) -> tuple[str, ...]:
    """The title of a column that tells several MPIs apart."""
    return ("MPI",) if len({bench.mpi for bench in benches}) > 1 else ()


def _name(what: str, mpi: str, benches: Sequence[Bench]) -> str:
    return f"{what}, {short_names(benches)[mpi]}" if _mpi_title(benches) else what


def _by_mpi(benches: Sequence[Bench]) -> Iterator[tuple[str, list[Bench]]]:
    for mpi in dict.fromkeys(bench.mpi for bench in benches):
        yield mpi, [bench for bench in benches if bench.mpi == mpi]


def _seconds(estimate: MedianEstimate) -> tuple[str, str]:
    return format.value_and_interval(estimate.value, estimate.low, estimate.high, "s")
