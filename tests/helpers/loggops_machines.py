"""LogGOPS machines whose regimes and protocol changes are known, drawn at random and measured beside any noise.

A dataset takes milliseconds, so that thousands of machines can be fitted. `sim_target` names the same machine for the
probe's simulated network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from synthetic import (
    Ask,
    Drift,
    SyntheticDisturbance,
    TwoStates,
    exact_seconds,
    size_grid,
    synthetic_dataset,
)

from chiplog.dataset.series import Dataset
from chiplog.models.piecewise import Piece
from chiplog.models.protocol import Theta

PROTOCOL, SLOPE = "protocol", "slope"
SLOPES = {"G": ("L", "g"), "O_s": ("o_s",), "O_r": ("o_r",)}
"""The costs of a byte, and the constants that make up for each where lines meet."""
ASSESSMENT = (Ask("prtt"), Ask("prtt", 10), Ask("prtt", 10, 1.0), Ask("receive_overhead", 1, 1.5))
"""What identifies every parameter of a machine whose gap shows."""
NOISE = 0.05
NOISES: Mapping[str, SyntheticDisturbance] = {
    "none": SyntheticDisturbance(),
    "log-normal": SyntheticDisturbance(noise=NOISE),
    "skewed": SyntheticDisturbance(noise=NOISE, skewed=True),
    "drift": SyntheticDisturbance(noise=NOISE, drift=Drift(0.9, 0.05)),
    "drifting samples": SyntheticDisturbance(noise=NOISE, drift=Drift(0.9, 0.05, over="samples")),
    "states": SyntheticDisturbance(noise=NOISE, states=TwoStates()),
    "outliers": SyntheticDisturbance(noise=NOISE, outliers=0.1),
    "all": SyntheticDisturbance(NOISE, 0.1, drift=Drift(0.9, 0.05), states=TwoStates()),
}
"""What disturbs measurements, by name."""
STEEPER, FLATTER = (1.5, 3.0), (1.0 / 3.0, 1.0 / 1.5)
"""Factors of the cost of a byte from one regime to the next."""
OCTAVES_APART = 3
"""Between any two borders, and between them and the ends of the grid."""


@dataclass(frozen=True)
class LoggopsMachine:
    """Regimes in ascending order, and for each but the first whether a protocol or a slope alone changes there."""

    pieces: tuple[Piece, ...]
    borders: tuple[str, ...] = ()

    def last_bytes(self, border: str) -> tuple[int, ...]:
        """The last sizes in bytes before each border of a kind."""
        ends = (piece.last_bytes for piece in self.pieces)
        return tuple(
            end for end, kind in zip(ends, self.borders, strict=False) if end and kind == border
        )

    def with_border(self, last_bytes: int, border: str, **changed: float) -> LoggopsMachine:
        """Another regime above `last_bytes`, which must lie above all borders so far; see `joined` for slopes."""
        *below, last = self.pieces
        theta = (
            joined(last.theta, last_bytes, changed)
            if border == SLOPE
            else {**last.theta, **changed}
        )
        pieces = (*below, Piece(last_bytes, last.theta), Piece(None, theta))
        return LoggopsMachine(pieces, (*self.borders, border))


def machine(**theta: float) -> LoggopsMachine:
    """A machine of one regime, from parameters in seconds and seconds per byte; O_s and O_r are 0 unless given."""
    return LoggopsMachine((Piece(None, {"O_s": 0.0, "O_r": 0.0, **theta}),))


def joined(below: Theta, last_bytes: int, slopes: Theta) -> Theta:
    """The regime above `last_bytes` whose bytes cost `slopes`, and whose lines meet those of `below` there.

    Raises ValueError where that needs a constant below 0.
    """
    above = {**below, **slopes}
    for slope in slopes:
        for constant in SLOPES[slope]:
            above[constant] += (last_bytes - 1) * (below[slope] - above[slope])
    least = min(above, key=lambda symbol: above[symbol])
    if above[least] < 0.0:
        raise ValueError(f"{least} = {above[least]} above {last_bytes} bytes")
    return above


def draw_machine(
    seed: int | Sequence[int],
    *,
    changes: int = 1,
    slopes: int = 2,
    last_bytes: int = 1 << 20,
    least_jump: float = 0.3,
) -> LoggopsMachine:
    """A random machine: microseconds of latency and overhead, a gap that shows, 0.1 to 3 GB/s.

    At a protocol change half round trip and gap grow by `least_jump` of the half round trip at the size, up to three
    times that. At a slope change each cost of a byte becomes 1.5 to 3 times smaller or, where the lines can meet above
    0, larger. Borders are three octaves apart.
    """
    rng = np.random.default_rng(seed)
    kinds = [PROTOCOL] * changes + [SLOPE] * slopes
    rng.shuffle(kinds)
    drawn = _first(rng)
    for end, kind in zip(_ends(rng, len(kinds), last_bytes), kinds, strict=True):
        theta = drawn.pieces[-1].theta
        changed = (
            _steps(rng, drawn, end, least_jump) if kind == PROTOCOL else _slopes(rng, theta, end)
        )
        drawn = drawn.with_border(end, kind, **changed)
    return drawn


def _first(rng: np.random.Generator) -> LoggopsMachine:
    latency = 10.0 ** rng.uniform(-6.0, -4.5)
    o_s, o_r = latency * rng.uniform(0.1, 0.4, 2)
    g = max(o_s, o_r) * rng.uniform(1.3, 2.5)
    wire = 10.0 ** rng.uniform(-9.5, -8.0)
    cost_s, cost_r = wire * rng.uniform(0.2, 0.7, 2)
    return machine(L=latency, o_s=o_s, o_r=o_r, g=g, G=wire, O_s=cost_s, O_r=cost_r)


def _ends(rng: np.random.Generator, count: int, last_bytes: int) -> list[int]:
    """Sizes of at least 32 B, three octaves from each other and from the end."""
    first, last = 5.0, np.log2(last_bytes) - OCTAVES_APART
    room = last - first - (count - 1) * OCTAVES_APART
    if count and room < 0:
        raise ValueError(f"{count} borders don't fit below {last_bytes} bytes")
    places = np.sort(rng.uniform(0.0, max(room, 0.0), count))
    return [int(2.0 ** (first + place + k * OCTAVES_APART)) for k, place in enumerate(places)]


def _steps(
    rng: np.random.Generator, drawn: LoggopsMachine, end: int, least_jump: float
) -> dict[str, float]:
    theta = drawn.pieces[-1].theta
    half = exact_seconds(drawn.pieces, "prtt", end) / 2.0
    jump = half * least_jump * 3.0 ** rng.uniform(0.0, 1.0)
    return {"L": theta["L"] + jump, "g": theta["g"] + jump}


def _slopes(rng: np.random.Generator, theta: Theta, end: int) -> dict[str, float]:
    """All costs of a byte change by one factor, so that no regime hides behind another part of the machine."""
    for low, high in (STEEPER, FLATTER) if rng.random() < 0.5 else (FLATTER,):
        factor = float(np.exp(rng.uniform(np.log(low), np.log(high))))
        changed = {slope: factor * theta[slope] for slope in SLOPES}
        try:
            joined(theta, end, changed)
        except ValueError:
            continue
        return changed
    raise AssertionError("flatter lines always meet")


def loggops_dataset(
    drawn: LoggopsMachine,
    disturbance: SyntheticDisturbance = NOISES["log-normal"],
    *,
    sizes: Sequence[int] = (),
    asks: Sequence[Ask] = ASSESSMENT,
    samples: int = 20,
    visits: int = 3,
    launches: int = 1,
    seed: int = 0,
) -> Dataset:
    """The machine measured at `sizes`, two an octave up to 1 MiB unless given, in shuffled order."""
    return synthetic_dataset(
        drawn.pieces,
        sizes or size_grid(),
        asks=asks,
        samples=samples,
        visits=visits,
        launches=launches,
        disturbance=disturbance,
        seed=seed,
    )


def sim_target(drawn: LoggopsMachine, *more: str) -> str:
    """The target of the probe's simulated network that is this machine, with further options."""
    options = [_assigned(drawn.pieces[0].theta, "=", ",")]
    parts = zip(drawn.pieces, drawn.pieces[1:], drawn.borders, strict=False)
    for below, above, border in parts:
        named = SLOPES if border == SLOPE else above.theta
        theta = {
            name: above.theta[name] for name in named if above.theta[name] != below.theta[name]
        }
        option = "slope" if border == SLOPE else "change"
        options.append(f"{option}={below.last_bytes}:{_assigned(theta, '=', ':')}")
    return "sim:" + ",".join((*options, *more))


def _assigned(theta: Theta, sign: str, between: str) -> str:
    return between.join(f"{name}{sign}{value * 1e9:.12g}ns" for name, value in theta.items())
