"""Native kernels of chiplog's analysis."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class Limits:
    """What a segment must cover."""

    def __init__(
        self,
        *,
        min_bytes: float,
        min_points: int,
        min_factor: float,
        min_points_sparse: int,
        min_factor_sparse: float,
    ) -> None: ...

class Segmenter:
    """All segment costs of one series and its optimal segmentations."""

    def __init__(
        self,
        bytes: NDArray[np.float64],
        seconds: NDArray[np.float64],
        weights: NDArray[np.float64],
        limits: Limits,
        cap: float = ...,
    ) -> None: ...
    def __len__(self) -> int: ...
    def admissible(self, begin: int, end: int) -> bool: ...
    def cost(self, begin: int, end: int) -> float: ...
    def line(self, begin: int, end: int) -> tuple[float, float]: ...
    def solve(self, max_segments: int) -> list[tuple[float, list[int]]]: ...
    def settle(self, begins: Sequence[int]) -> tuple[float, list[int]]: ...

def best_splits(
    bytes: NDArray[np.float64],
    seconds: NDArray[np.float64],
    weights: NDArray[np.float64],
    limits: Limits,
) -> list[int]: ...
def read_goal(
    descriptor: int,
) -> tuple[int, NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint32]]: ...
def write_goal(
    descriptor: int,
    ranks: int,
    operations: NDArray[np.uint8],
    requires_end: NDArray[np.uint8],
    requires_start: NDArray[np.uint8],
) -> None: ...
def after_burst(columns: NDArray[np.float64], count: int) -> NDArray[np.float64]: ...
def barrier_algorithms() -> list[str]: ...
def barrier_trials(name: str, ranks: int) -> list[int]: ...
def barrier_schedule(
    name: str, ranks: int, rank: int, peers: int
) -> list[tuple[list[int], list[int]]]: ...

class Protocol:
    """What messages from a size on take: lines in picoseconds and attoseconds per byte."""

    def __init__(
        self,
        *,
        first_bytes: int,
        send: tuple[int, int],
        nic: tuple[int, int],
        receive: tuple[int, int],
        one_way: tuple[int, int],
        receiver_keeps_up: bool,
        arrives_whole: bool,
    ) -> None: ...

class Distribution:
    """Of what noise adds to an interval of CPU time."""

    none: Distribution
    exponential: Distribution
    half_normal: Distribution
    pareto: Distribution

class Detour:
    """A time that a CPU loses."""

    def __init__(self, start_ps: int, length_ps: int) -> None: ...

class Noise:
    """What lengthens CPU times."""

    distribution: Distribution
    mean_ps: float
    mean_share: float
    probability: float
    detours: Sequence[Detour]
    seed: int

class PairClasses:
    """Which protocols a message has where pairs of ranks differ."""

    classes: Sequence[Sequence[Protocol]]
    group_of_rank: Sequence[int]
    class_of_groups: Sequence[int]

class Parameters:
    """All that a simulation depends on besides its schedule."""

    protocols: Sequence[Protocol]
    protocols_of_traffic: Sequence[Sequence[Protocol]]
    S_bytes: int
    pairs: PairClasses
    free_messages: int
    ranks_per_node: int
    node_attoseconds_per_byte: int
    noise: Noise

def simulate(
    ranks: int,
    operations: NDArray[np.uint8],
    requires_end: NDArray[np.uint8],
    requires_start: NDArray[np.uint8],
    parameters: Parameters,
    *,
    trace: bool,
    follow: bool,
) -> tuple[
    NDArray[np.int64],
    int,
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.uint8],
    tuple[int, ...],
    NDArray[np.uint8],
]: ...
