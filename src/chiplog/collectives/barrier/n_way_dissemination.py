"""n-way dissemination barrier: ceil(log_{n+1} P) rounds, in each of which a rank tells n others.

In round r rank p sends to p + i (n+1)^r and receives from p - i (n+1)^r, i = 1..n, all modulo P, where i (n+1)^r < P.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "Fast barrier synchronization for InfiniBand", IPDPS 2006 (CAC).
"""

from __future__ import annotations

from chiplog.collectives.algorithm import Algorithm, FanOut, Task
from chiplog.collectives.cost_shapes import EXACT_BURST, burst
from chiplog.collectives.costs import Network, Rank, Seconds, nothing
from chiplog.collectives.shapes import all_ranks, distances
from chiplog.schedule import Schedule, ScheduleBuilder
from chiplog.schedule.builder import Operations
from chiplog.schedule.traffic import crossing


def rounds(ranks: int, peers: int, message_bytes: int) -> Schedule:
    """What a rank does in a round waits for all messages of the round before, not for its own sends."""
    all_steps = [
        range(distance, min(ranks, peers * distance + 1), distance)
        for distance in distances(ranks, peers + 1)
    ]
    builder = ScheduleBuilder(ranks, 2 * ranks * sum(map(len, all_steps)))
    everybody = all_ranks(ranks)
    before: list[Operations] = []
    for steps in all_steps:
        for step in steps:
            builder.send(
                everybody, to=(everybody + step) % ranks, message_bytes=message_bytes, after=before
            )
        before = [
            builder.receive(
                everybody,
                source=(everybody - step) % ranks,
                message_bytes=message_bytes,
                after=before,
            )
            for step in steps
        ]
    return builder.build()


def schedule(task: Task) -> Schedule:
    """`task.peers` is n."""
    return rounds(task.ranks, task.peers, task.message_bytes)


def round_count(ranks: int, peers: int) -> int:
    """R = ceil(log_{n+1} P), with integers.

    >>> round_count(125, 4), round_count(216, 5)
    (3, 3)
    """
    return sum(1 for _ in distances(ranks, peers + 1))


def last_peers(ranks: int, peers: int) -> int:
    """Peers in the last round: i = 1..n with i (n+1)^(R-1) < P.

    >>> last_peers(10, 2)
    1
    """
    return (ranks - 1) // (peers + 1) ** (round_count(ranks, peers) - 1) if ranks > 1 else 0


def seconds(task: Task, network: Network) -> Seconds:
    """R (o + L + (n-1) max(o, g) + o) of short messages where L hides the other receives; else burst by burst.

    Fewer peers in the last round where P is no (n+1)^R.
    """
    rank = Rank()
    for rounds_left in range(round_count(task.ranks, task.peers), 0, -1):
        peers = task.peers if rounds_left > 1 else last_peers(task.ranks, task.peers)
        rank = burst(network.message(task.message_bytes, crossing(peers)), peers, rank)
    return rank.free + nothing(network)


def fan_out(task: Task) -> FanOut:
    """R rounds of n peers."""
    return FanOut(task.peers, round_count(task.ranks, task.peers))


def exact(task: Task) -> bool:
    """Where a burst is followed message by message."""
    return task.peers <= EXACT_BURST


ALGORITHM = Algorithm(
    "barrier",
    "n-way-dissemination",
    "ceil(log_{n+1} P) rounds, n messages a rank in each; --peers n",
    "Hoefler, Mehlan, Mietke, Rehm 2006",
    schedule,
    seconds,
    exact=exact,
    takes_peers=True,
    fan_out=fan_out,
    everybody_sends=True,
)
