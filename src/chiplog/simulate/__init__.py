"""Executes schedules under LogGOPS: when each rank is done."""

from chiplog.simulate.conditions import Conditions, Noise, PairClasses
from chiplog.simulate.parameters import LogGOPS, MessageTimes, Protocol
from chiplog.simulate.simulation import Simulation, simulate

__all__ = [
    "Conditions",
    "LogGOPS",
    "MessageTimes",
    "Noise",
    "PairClasses",
    "Protocol",
    "Simulation",
    "simulate",
]
