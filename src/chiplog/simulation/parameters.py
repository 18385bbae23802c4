"""The parameters of LogGOPS, as the simulator takes them: integers fine enough for any network's G."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import NamedTuple

from chiplog import _native
from chiplog.errors import RunFailed, UsageError

PICOSECONDS_PER_NS = 1000
ATTOSECONDS_PER_NS = 1_000_000_000
MAX_INTEGER = 2**63 - 1
LONGEST_SECONDS = 1e5
"""Given: longer times of a model, which stand for a parameter that nothing bounds, count as this."""
NO_LIMIT_BYTES = 2**64 - 1


def whole(time: float) -> int:
    """A time as the simulator's integer, at least 0 and at most what it can hold."""
    return min(max(round(min(time, MAX_INTEGER)), 0), MAX_INTEGER // 2)


class MessageParts(NamedTuple):
    """What a message takes from its send's start until it is received, and what of that keeps something busy."""

    way_ps: float
    busy_ps: float
    """How long it keeps both CPUs."""
    wire_ps: float
    """How long its bytes after the first keep a NIC."""

    @property
    def latency_ps(self) -> float:
        """L: what its CPUs and its bytes leave of its time."""
        return max(self.way_ps - self.busy_ps - self.wire_ps, 0.0)


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

    @property
    def latency_ps(self) -> float:
        """L."""
        return self.L_ps

    def one_way_ps_of(self, message_bytes: int) -> float:
        """How long a message takes from its send's start until it is received."""
        further = max(message_bytes, 1) - 1
        return 2 * self.o_ps + self.L_ps + 1e-6 * further * max(self.O_as, self.G_as)

    def for_native(self) -> _native.Protocol:
        """As the native simulator takes them: see MessageTimes.

        The receiver's CPU is busy for o + (s-1) max(O, G); the message is there o + L after its send began.
        """
        receive = max(self.O_as, self.G_as)
        one_way = 2 * self.o_ps + self.L_ps
        if one_way > MAX_INTEGER:
            raise RunFailed(
                "a message would take longer than 106 days (2^63 ps), the most that can be simulated: is a parameter "
                "in the wrong unit?"
            )
        return _native.Protocol(
            first_bytes=self.first_bytes,
            send=(self.o_ps, self.O_as),
            nic=(self.g_ps, self.G_as),
            receive=(self.o_ps, receive),
            one_way=(one_way, receive),
            receiver_keeps_up=False,
            arrives_whole=False,
        )


@dataclass(frozen=True)
class MessageTimes:
    """What messages of `first_bytes` and more take: lines over the bytes after the first.

    The first three are how long a message keeps the sender's CPU, each NIC and the receiver's CPU; the last is the time
    from the start of the send until it is received. Starts are picoseconds, slopes attoseconds per byte.
    """

    first_bytes: int
    send_ps: int
    send_as: int
    nic_ps: int
    nic_as: int
    receive_ps: int
    receive_as: int
    one_way_ps: int
    one_way_as: int
    receiver_keeps_up: bool
    """Does a receive take at most what its sender's CPU or the NIC takes? It never takes longer than the message."""
    crossings: int = 1
    """How often the network is crossed, one way after the other, until the message is received."""

    @classmethod
    def from_seconds(
        cls, first_bytes: int, values: Mapping[str, float], *, receiver_keeps_up: bool
    ) -> MessageTimes:
        """From L_half, G_half, o_s, O_s, o_r, O_r, g and G in seconds, and seconds per byte."""

        def scaled(name: str, scale: int) -> int:
            return whole(min(values[name], LONGEST_SECONDS) * scale * 1e9)

        starts = (scaled(name, PICOSECONDS_PER_NS) for name in ("o_s", "g", "o_r", "L_half"))
        slopes = (scaled(name, ATTOSECONDS_PER_NS) for name in ("O_s", "G", "O_r", "G_half"))
        send, nic, receive, one_way = zip(starts, slopes, strict=True)
        return cls(first_bytes, *send, *nic, *receive, *one_way, receiver_keeps_up)

    @property
    def parts(self) -> MessageParts:
        """What a message of `first_bytes` takes."""
        further = max(self.first_bytes, 1) - 1
        busy = self.send_ps + self.receive_ps + 1e-6 * further * (self.send_as + self.receive_as)
        return MessageParts(
            self.one_way_ps + 1e-6 * further * self.one_way_as, busy, 1e-6 * further * self.nic_as
        )

    @property
    def latency_ps(self) -> float:
        """L of a message of `first_bytes`."""
        return self.parts.latency_ps

    def one_way_ps_of(self, message_bytes: int) -> float:
        """How long a message takes from its send's start until it is received."""
        return self.one_way_ps + 1e-6 * (max(message_bytes, 1) - 1) * self.one_way_as

    def for_native(self) -> _native.Protocol:
        """As the native simulator takes them; a message arrives as a whole."""
        return _native.Protocol(
            first_bytes=self.first_bytes,
            send=(self.send_ps, self.send_as),
            nic=(self.nic_ps, self.nic_as),
            receive=(self.receive_ps, self.receive_as),
            one_way=(self.one_way_ps, self.one_way_as),
            receiver_keeps_up=self.receiver_keeps_up,
            arrives_whole=True,
        )


@dataclass(frozen=True)
class LogGOPS:
    """Parameters of LogGOPS: those of each protocol, by ascending size from 0 bytes on.

    A send of more than `S_bytes` waits for its receive.
    Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim - simulating large-scale applications in the LogGOPS
    model", LSAP 2010.
    """

    protocols: tuple[Protocol | MessageTimes, ...]
    S_bytes: int = NO_LIMIT_BYTES
    protocols_of_traffic: tuple[tuple[Protocol | MessageTimes, ...], ...] = ()
    """In place of `protocols`, of sends whose `traffic` is 1, 2, … (`chiplog.schedule.traffic`)."""

    def protocols_of(self, traffic: int) -> tuple[Protocol | MessageTimes, ...]:
        """Those of sends of a kind of traffic."""
        of_traffic = (self.protocols, *self.protocols_of_traffic)
        return of_traffic[traffic if traffic < len(of_traffic) else 0]

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

    def for_native(self) -> _native.Parameters:
        """As the native simulator takes them, without further conditions."""
        parameters = _native.Parameters()
        parameters.protocols = native_protocols(self.protocols)
        parameters.protocols_of_traffic = list(map(native_protocols, self.protocols_of_traffic))
        parameters.S_bytes = self.S_bytes
        return parameters


def native_protocols(protocols: Sequence[Protocol | MessageTimes]) -> list[_native.Protocol]:
    """As the native simulator takes them; the first `MessageTimes` hold for all smaller messages, too."""
    if protocols and isinstance(protocols[0], MessageTimes):
        protocols = (replace(protocols[0], first_bytes=0), *protocols[1:])
    return [protocol.for_native() for protocol in protocols]


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
