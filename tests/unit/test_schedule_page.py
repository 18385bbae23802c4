"""The page of a simulated schedule."""

from __future__ import annotations

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.jobs.schedule_page import schedule_page
from chiplog.report.document import Table, text_of
from chiplog.schedule import Schedule
from chiplog.simulation import LogGOPS, simulate
from chiplog.simulation.parameters import NO_LIMIT_BYTES
from chiplog.simulation.result import Range


def finish_table(schedule: Schedule, time_range: Range) -> Table:
    page = schedule_page(schedule, time_range, "bcast")
    (table,) = (
        block for section in page.sections for block in section.blocks if isinstance(block, Table)
    )
    return table


def test_all_ranks_are_done_in_one_unit_that_the_column_names() -> None:
    """The first rank is done within a microsecond, the last after several."""
    schedule = load("bcast", "linear").schedule(Task(40, 64))
    parameters = LogGOPS.from_ns(L=100, o=1, g=1, G=1, S_bytes=NO_LIMIT_BYTES)
    simulation = simulate(schedule, parameters, trace=True)
    table = finish_table(schedule, Range(simulation, *[simulation.makespan_ps] * 2))
    assert [text_of(column.title) for column in table.columns] == ["Rank", "Done after (us)"]
    times = [float(text_of(row[1]).replace(",", "")) for row in table.rows]
    assert len(times) == 40 and min(times) < 1.0 < max(times)


def test_times_by_a_fit_have_no_more_digits_than_the_interval_bears() -> None:
    schedule = load("bcast", "linear").schedule(Task(40, 64))
    parameters = LogGOPS.from_ns(L=1234.567, o=1.234, g=1.234, G=1, S_bytes=NO_LIMIT_BYTES)
    simulation = simulate(schedule, parameters, trace=True)
    last = simulation.makespan_ps
    for share, decimals in ((0.3, 1), (0.03, 2), (0.003, 3)):
        low, high = round(last * (1 - share)), round(last * (1 + share))
        table = finish_table(schedule, Range(simulation, low, high))
        texts = {text_of(row[1]) for row in table.rows}
        assert {len(text.partition(".")[2]) for text in texts} == {decimals}
