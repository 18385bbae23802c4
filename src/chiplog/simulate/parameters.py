"""The parameters of LogGOPS, as the simulator takes them: integers fine enough for any network's G."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

from chiplog.errors import UsageError

PICOSECONDS_PER_NS = 1000
ATTOSECONDS_PER_NS = 1_000_000_000
MAX_INTEGER = 2**63 - 1
NO_LIMIT_BYTES = 2**64 - 1


@dataclass(frozen=True)
class Protocol:
    """Parameters of messages of `first_bytes` and more: L, o and g in picoseconds, G and O in attoseconds per byte."""

    first_bytes: int
    L_ps: int
    o_ps: int
    g_ps: int
    G_as: int
    O_as: int

    @classmethod
    def from_ns(
        cls,
        *,
        L: float | str,
        o: float | str,
        g: float | str,
        G: float | str,
        O: float | str = 0,
        first_bytes: int = 0,
    ) -> Protocol:
        """From nanoseconds, and nanoseconds per byte, as decimal numbers; UsageError names one that is out of range.

        >>> Protocol.from_ns(L=2500, o=1500, g=1000, G="0.0849")
        Protocol(first_bytes=0, L_ps=2500000, o_ps=1500000, g_ps=1000000, G_as=84900000, O_as=0)
        """
        return cls(
            first_bytes=first_bytes,
            L_ps=_scaled("L", L, PICOSECONDS_PER_NS),
            o_ps=_scaled("o", o, PICOSECONDS_PER_NS),
            g_ps=_scaled("g", g, PICOSECONDS_PER_NS),
            G_as=_scaled("G", G, ATTOSECONDS_PER_NS),
            O_as=_scaled("O", O, ATTOSECONDS_PER_NS),
        )


@dataclass(frozen=True)
class LogGOPS:
    """Parameters of LogGOPS: those of each protocol, by ascending size from 0 bytes on.

    A send of more than `S_bytes` waits for its receive.
    Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim - simulating large-scale applications in the LogGOPS
    model", LSAP 2010.
    """

    protocols: tuple[Protocol, ...]
    S_bytes: int = NO_LIMIT_BYTES

    def __post_init__(self) -> None:
        if not 0 <= self.S_bytes <= NO_LIMIT_BYTES:
            raise UsageError("--S: accepts a number of bytes from 0 to 2^64 - 1.")

    @classmethod
    def from_ns(
        cls,
        *,
        L: float | str,
        o: float | str,
        g: float | str,
        G: float | str,
        O: float | str = 0,
        S_bytes: int = NO_LIMIT_BYTES,
    ) -> LogGOPS:
        """One protocol for all sizes; numbers and errors as of Protocol.from_ns."""
        return cls((Protocol.from_ns(L=L, o=o, g=g, G=G, O=O),), S_bytes)


def _scaled(name: str, value: float | str, scale: int) -> int:
    """A decimal number times `scale`, rounded to an integer; the shortest decimal of a float is taken at its word."""
    wrong = UsageError(
        f"--{name}: accepts a number of nanoseconds from 0 to {MAX_INTEGER // scale}."
    )
    try:
        number = Decimal(str(value))
        integer = int((number * scale).quantize(Decimal(1), rounding=ROUND_HALF_EVEN))
    except (InvalidOperation, ValueError, OverflowError):
        raise wrong from None
    if not 0 <= integer <= MAX_INTEGER:
        raise wrong
    return integer
