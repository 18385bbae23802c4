"""Executes schedules under LogGOPS: when each rank is done."""

from chiplog.simulation.conditions import Conditions, Noise, PairClasses
from chiplog.simulation.parameters import LogGOPS, MessageTimes, Protocol
from chiplog.simulation.simulate import Simulation, simulate

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
