"""Schedules: what each rank sends, receives and computes, and what has to wait for what.

A schedule is a few NumPy arrays, so that one of a million ranks fits in memory; `chiplog.schedule.goal` reads and
writes it as GOAL text, `chiplog.collectives` makes those of collective operations, `chiplog.simulate` executes it.
"""

from chiplog.schedule.arrays import ANY, Schedule
from chiplog.schedule.builder import NONE, ScheduleBuilder

__all__ = ["ANY", "NONE", "Schedule", "ScheduleBuilder"]
