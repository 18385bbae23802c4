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
def simulate(
    ranks: int,
    operations: NDArray[np.uint8],
    requires_end: NDArray[np.uint8],
    requires_start: NDArray[np.uint8],
    *,
    protocols: Sequence[tuple[int, ...]],
    S_bytes: int,
    trace: bool,
    classes: Sequence[Sequence[tuple[int, ...]]],
    group_of_rank: Sequence[int],
    class_of_groups: Sequence[int],
    free_messages: int,
    ranks_per_node: int,
    node_attoseconds_per_byte: int,
    noise: tuple[int, float, float, float, int],
    detours: Sequence[tuple[int, int]],
) -> tuple[NDArray[np.int64], int, NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]: ...
