"""Executes schedules under LogGOPS: when each rank is done."""

from chiplog.simulate.parameters import LogGOPS, Protocol
from chiplog.simulate.run import Simulation, simulate

__all__ = ["LogGOPS", "Protocol", "Simulation", "simulate"]
