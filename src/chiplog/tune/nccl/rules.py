"""The file of NCCL's example tuner plug-in: a line for each range of sizes, of which the first that fits counts.

Columns: collective, first and last size in bytes, algorithm, protocol, channels, nodes, ranks, pipelined operations,
registered buffers; -1 is any. A name that the plug-in does not know means allreduce, ring or simple to it, so none is
written. It reads at most 255 characters of a line as one.

Source: plugins/tuner/example of NCCL 2.28.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chiplog.errors import UsageError
from chiplog.outside import as_integer
from chiplog.quoting import for_line

ALGORITHMS = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")
PROTOCOLS = ("ll", "ll128", "simple")
COLLECTIVES = {
    "bcast": "broadcast",
    "reduce": "reduce",
    "allgather": "allgather",
    "reduce_scatter": "reducescatter",
    "allreduce": "allreduce",
}
"""NCCL's name of each operation that its plug-ins choose for, by chiplog's."""
ANY = -1
"""Given: the plug-in's word for whatever it may be."""
MOST_CHANNELS = 1024
"""Given: far more than any NCCL has."""
LONGEST_LINE = 255
"""Given: characters that the plug-in reads as one line."""
VARIABLES = ("NCCL_TUNER_PLUGIN", "NCCL_TUNER_CONFIG_FILE")


@dataclass(frozen=True, order=True)
class NcclCandidate:
    """What NCCL_ALGO, NCCL_PROTO and the numbers of channels force; the name is `ring/simple` or `ring/simple/8`."""

    algorithm: str
    protocol: str
    channels: int = ANY

    @classmethod
    def parse(cls, name: str) -> NcclCandidate:
        """From its name; UsageError where there is no such algorithm or protocol."""
        algorithm, _, rest = name.lower().partition("/")
        protocol, _, channels = rest.partition("/")
        number = as_integer(channels, 1, MOST_CHANNELS) if channels else ANY
        if algorithm not in ALGORITHMS or protocol not in PROTOCOLS or number is None:
            raise UsageError(
                f"'{name[:40]}' is none of NCCL's choices; it accepts ALGORITHM/PROTOCOL[/CHANNELS] "
                f"with {', '.join(ALGORITHMS)} and {', '.join(PROTOCOLS)}."
            )
        return cls(algorithm, protocol, number)

    def __str__(self) -> str:
        channels = "" if self.channels == ANY else f"/{self.channels}"
        return f"{self.algorithm}/{self.protocol}{channels}"


@dataclass(frozen=True)
class NcclRule:
    """A range of sizes of one collective, on exactly so many ranks and nodes."""

    operation: str
    """By chiplog's name."""
    first_bytes: int
    last_bytes: int
    candidate: NcclCandidate
    nodes: int
    ranks: int

    @property
    def line(self) -> str:
        """As the plug-in reads it."""
        sizes = f"{self.first_bytes},{self.last_bytes}"
        chosen = f"{self.candidate.algorithm},{self.candidate.protocol},{self.candidate.channels}"
        where = f"{self.nodes},{self.ranks},{ANY},{ANY}"
        return f"{COLLECTIVES[self.operation]},{sizes},{chosen},{where}"


def text(rules: Sequence[NcclRule], comments: Iterable[str]) -> str:
    """The file: comments, then a line a rule."""
    # The plug-in takes what is beyond as another line, which is a comment no more.
    above = [f"# {for_line(comment)}"[: LONGEST_LINE - 1] for comment in comments]
    return "\n".join([*above, *(rule.line for rule in rules)]) + "\n"
