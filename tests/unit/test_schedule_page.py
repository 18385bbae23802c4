"""The page of a simulated schedule."""

from __future__ import annotations

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.jobs.schedule_page import schedule_page
from chiplog.report.document import Table, text_of
from chiplog.simulation import LogGOPS, simulate
from chiplog.simulation.parameters import NO_LIMIT_BYTES


def test_all_ranks_are_done_in_one_unit_that_the_column_names() -> None:
    """The first rank is done within a microsecond, the last after several."""
    schedule = load("bcast", "linear").schedule(Task(40, 64))
    parameters = LogGOPS.from_ns(L=100, o=1, g=1, G=1, S_bytes=NO_LIMIT_BYTES)
    page = schedule_page(schedule, simulate(schedule, parameters, trace=True), "bcast")
    (table,) = (
        block for section in page.sections for block in section.blocks if isinstance(block, Table)
    )
    assert [text_of(column.title) for column in table.columns] == ["Rank", "Done after (us)"]
    times = [float(text_of(row[1]).replace(",", "")) for row in table.rows]
    assert len(times) == 40 and min(times) < 1.0 < max(times)
