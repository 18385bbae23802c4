"""How far predictions of three real clusters were from what collectives took there: the table that chiplog ships.

Sources: D. De Sensi, T. De Matteis, K. Taranov, S. Di Girolamo, T. Rahn, T. Hoefler, "Noise in the clouds: influence of
network performance variability on application scalability", Proceedings of the ACM on Measurement and Analysis of
Computing Systems 6 (2022), and the measurements published with it (github.com/DanieleDeSensi/cloud_noise_data): Piz
Daint (Cray Aries), DEEP-EST (InfiniBand, 100 Gbit/s) and Google's cloud (100 Gbit/s). Models were fitted to ping-pongs,
trains and exchanges of another day than the collectives, of 4 to 32 ranks and 16 B to 16 MiB.
`python benchmarks/cluster_errors.py` makes the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from chiplog.collectives.algorithm import Algorithm


class Family(StrEnum):
    """Algorithms whose messages go alike."""

    DISSEMINATION = "dissemination"
    """In a step all ranks send, from step to step to others."""
    RING = "ring"
    """Each rank sends to the next one all the time."""
    ALL_TO_ALL = "all-to-all"
    """Each rank has something for each of its peers."""
    TREE = "tree"
    """Some ranks send while others wait."""


def family_of(algorithm: Algorithm) -> Family:
    """The family of an algorithm."""
    if "ring" in algorithm.name.split("-"):
        return Family.RING
    if algorithm.operation in ("alltoall", "halo") and algorithm.name != "bruck":
        return Family.ALL_TO_ALL
    return Family.DISSEMINATION if algorithm.everybody_sends else Family.TREE


@dataclass(frozen=True)
class KnownErrors:
    """Errors of one family on one machine: logarithms of measured over predicted, as root mean squares."""

    machine: str
    family: Family
    cells: int
    rms: float
    anchored_cells: int
    """Cells of more than 4 ranks, predicted with that of 4 ranks, the same size and the same job as an anchor."""
    anchored_rms: float


KNOWN_ERRORS = (
    KnownErrors("Piz Daint", Family.DISSEMINATION, 16, 1.217, 12, 1.432),
    KnownErrors("Piz Daint", Family.RING, 26, 0.673, 19, 0.763),
    KnownErrors("DEEP-EST", Family.DISSEMINATION, 16, 0.218, 12, 0.220),
    KnownErrors("DEEP-EST", Family.RING, 15, 0.195, 11, 0.126),
    KnownErrors("Google Cloud", Family.DISSEMINATION, 3, 0.845, 2, 0.083),
    KnownErrors("Google Cloud", Family.RING, 3, 0.189, 2, 0.022),
)
"""Given: what was measured, as `benchmarks/cluster_errors.py` prints it."""
