"""What a simulation may have besides LogGOPS: noise, nodes that share a rate, free messages, classes of pairs."""

from __future__ import annotations

from dataclasses import dataclass, field

from chiplog import _native
from chiplog.counts import within
from chiplog.errors import UsageError
from chiplog.simulation.parameters import MessageTimes, Protocol, native_protocols

DISTRIBUTIONS = ("none", "exponential", "half-normal", "pareto")
"""Of what noise adds to an interval of CPU time; pareto is Lomax's form of shape 2."""
ATTOSECONDS_PER_SECOND = 10**18
MOST_IN_NATIVE = 2**32 - 1


@dataclass(frozen=True)
class Noise:
    """What lengthens CPU times: draws from a distribution, and times at which a CPU is lost.

    Each calc, send and receive is hit with `probability` and then takes `mean_ps` and `mean_share` of itself longer in
    the mean. `detours_ps` are start and length of lost times, ascending and apart, which begin anew after the last one;
    each rank starts at a place of its own that follows from `seed`, as all draws do.
    """

    distribution: str = "none"
    mean_ps: float = 0.0
    mean_share: float = 0.0
    probability: float = 1.0
    detours_ps: tuple[tuple[int, int], ...] = ()
    seed: int = 0

    def for_native(self) -> _native.Noise:
        """As the native simulator takes it."""
        noise = _native.Noise()
        noise.distribution = getattr(_native.Distribution, self.distribution.replace("-", "_"))
        noise.mean_ps, noise.mean_share = self.mean_ps, self.mean_share
        noise.probability, noise.seed = self.probability, self.seed
        noise.detours = [_native.Detour(start, length) for start, length in self.detours_ps]
        return noise


@dataclass(frozen=True)
class PairClasses:
    """Protocols by class of pairs of ranks.

    `class_of_groups` is by the sender's group and the receiver's, shape (groups, groups).
    """

    classes: tuple[tuple[Protocol | MessageTimes, ...], ...]
    group_of_rank: tuple[int, ...]
    class_of_groups: tuple[tuple[int, ...], ...]

    def for_native(self) -> _native.PairClasses:
        """As the native simulator takes them."""
        pair_classes = _native.PairClasses()
        pair_classes.classes = list(map(native_protocols, self.classes))
        pair_classes.group_of_rank = list(self.group_of_rank)
        pair_classes.class_of_groups = [number for row in self.class_of_groups for number in row]
        return pair_classes


@dataclass(frozen=True)
class Conditions:
    """Everything optional; the default is plain LogGOPS.

    `ranks_per_node` neighbouring ranks share `node_bytes_per_second` for messages to other nodes; 0 ranks: no such
    limit. The first `free_messages` sends in a row needn't wait for g (LogfP's f); 1 is plain LogGOPS.
    """

    noise: Noise = field(default_factory=Noise)
    ranks_per_node: int = 0
    node_bytes_per_second: float = 0.0
    free_messages: int = 1
    pairs: PairClasses | None = None

    def __post_init__(self) -> None:
        within("--free", self.free_messages, 1, MOST_IN_NATIVE)
        within("--per-node", self.ranks_per_node, 0, MOST_IN_NATIVE)
        if 0 < self.node_bytes_per_second < 1:
            raise UsageError("--node-rate: accepts 1 byte per second or more.")
        if (self.ranks_per_node > 0) != (self.node_bytes_per_second > 0):
            raise UsageError("--per-node and --node-rate: go together, and are above 0.")

    def set_on(self, parameters: _native.Parameters) -> None:
        """Makes these conditions part of the native simulator's parameters."""
        rate, pairs = self.node_bytes_per_second, self.pairs
        parameters.free_messages = self.free_messages
        parameters.ranks_per_node = self.ranks_per_node
        parameters.node_attoseconds_per_byte = round(ATTOSECONDS_PER_SECOND / rate) if rate else 0
        parameters.noise = self.noise.for_native()
        if pairs is not None:
            parameters.pairs = pairs.for_native()
