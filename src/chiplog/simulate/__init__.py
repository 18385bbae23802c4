"""Executes schedules under LogGOPS: when each rank is done."""

from chiplog.simulate.conditions import Conditions, Noise, PairClasses
from chiplog.simulate.parameters import LogGOPS, Protocol
from chiplog.simulate.run import Simulation, simulate

__all__ = ["Conditions", "LogGOPS", "Noise", "PairClasses", "Protocol", "Simulation", "simulate"]
