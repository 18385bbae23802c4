"""A model with one parameter set per protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.models.protocol import Theta


@dataclass(frozen=True)
class Piece:
    """The parameters of one protocol; the piece holds for sizes up to `last_bytes`, None = any."""

    last_bytes: int | None
    theta: Theta


def piece_index(message_bytes: NDArray[np.int64], pieces: Sequence[Piece]) -> NDArray[np.int64]:
    """Which of `pieces` (ascending) holds for each size, shape of `message_bytes`."""
    limits = [piece.last_bytes for piece in pieces[:-1]]
    return np.searchsorted(np.array(limits, dtype=np.float64), message_bytes, side="left")
