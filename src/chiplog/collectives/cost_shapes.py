"""Times of the patterns that several algorithms share: equal steps, bursts, trees.

With T = o + L + o + max((s-1)O, (s-1)G), the time of one message, d = max(o + (s-1)O, g + (s-1)G) between two sends
and e the same between two receives. Everything is in seconds, shape (draws,), counted from a start at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from chiplog._native import after_burst
from chiplog.collectives.costs import Message, Rank, Seconds, latest, remembered

BlockMessage = Callable[[int], Message]
"""The message that carries so many ranks' blocks."""

EXACT_BURST = 512
"""Given: longer bursts are bounded, not followed message by message."""


def levels(ranks: int) -> int:
    """ceil(log2 P), with integers.

    >>> [levels(ranks) for ranks in (1, 2, 3, 64, 65)]
    [0, 1, 2, 6, 7]
    """
    return (ranks - 1).bit_length()


def equal_steps(message: Message, steps: int) -> Seconds:
    """T + (n-1) max(T, g + (s-1)G): every rank sends one message and receives one in each of n steps."""
    if steps < 1:
        return 0.0 * message.way
    first = message.exchange
    return first + (steps - 1) * latest([first, message.gap])


def exchanges(messages: Iterable[Message], rank: Rank | None = None) -> Rank:
    """A rank after steps of different sizes, in each of which all ranks do the same."""
    rank = Rank() if rank is None else rank
    for message in messages:
        rank = rank.exchange(message)
    return rank


def burst(message: Message, count: int, rank: Rank | None = None) -> Rank:
    """A rank after it sent n messages at once and received n from ranks with the same timeline.

    Message by message up to EXACT_BURST: whichever can start first has the CPU, the send where both can. Beyond, the
    larger of two lower bounds: o + L + (n-1) max(d, e) + receive, and n sends and n receives of CPU time.
    """
    if rank is None:
        known: dict[int, Rank] = remembered(message, "burst")
        if count not in known:
            known[count] = burst(message, count, Rank())
        return known[count]
    if count > EXACT_BURST:
        return _long_burst(message, count, rank)
    if count > 0 and np.all((count - 1) * message.between_sends <= message.way):
        return _sends_first(message, count, rank)
    columns = np.array(
        np.broadcast_arrays(
            message.send_busy,
            message.gap,
            message.way,
            message.receive_busy,
            message.lead,
            rank.free,
            rank.send_nic,
            rank.receive_nic,
        )
    )
    return Rank(*after_burst(columns, count))


def _sends_first(message: Message, count: int, rank: Rank) -> Rank:
    """The burst where the last send starts before the first message is there: all sends, then all receives."""
    start = np.maximum(rank.free, rank.send_nic) + 0.0 * message.way
    last_send = start + (count - 1) * message.between_sends
    nic = rank.receive_nic + message.lead + 0.0 * start
    first_take = latest([last_send + message.send_busy, nic, start + message.way])
    last_take = np.maximum(
        first_take + (count - 1) * message.between_receives, last_send + message.way
    )
    free = last_take + message.receive_busy
    return Rank(free, last_send + message.gap, last_take + message.gap - message.lead)


def _long_burst(message: Message, count: int, rank: Rank) -> Rank:
    step = np.maximum(message.between_sends, message.between_receives)
    by_network = message.way + (count - 1) * step + message.receive_busy
    by_cpu = count * (message.send_busy + message.receive_busy)
    start = np.maximum(rank.free, rank.send_nic)
    free = start + np.maximum(by_network, by_cpu)
    behind = np.maximum(message.gap - message.lead - message.receive_busy, 0.0)
    return Rank(free, start + count * message.between_sends, free + behind)


def fan_in(message: Message, senders: int) -> Seconds:
    """O + L + (n-1) e + receive: n ranks send to one at the same time."""
    if senders < 1:
        return 0.0 * message.way
    return message.one_way + (senders - 1) * message.between_receives


def fan_out(message: Message, receivers: int) -> Seconds:
    """(n-1) d + T: one rank sends to n in turn."""
    if receivers < 1:
        return 0.0 * message.way
    return (receivers - 1) * message.between_sends + message.one_way


def binomial_release(message: Message, ranks: int) -> Seconds:
    """Max over m of m T + (K-m) d, with m hops that the tree of `ranks` has, K = ceil(log2 P).

    A rank with m bits set and the highest at K-1 gets the message after m hops and K-m waits for earlier sends.
    """
    depth = levels(ranks)
    if depth == 0:
        return 0.0 * message.way
    T, d = message.one_way, message.between_sends
    most = most_bits(ranks - 1)
    return latest([T + (depth - 1) * d, most * T + (depth - most) * d, (depth - 1) * T])


def shared_binomial_release(message: Message, ranks: int) -> Seconds:
    """T(P) = T + (K-1) d + T(floor(P/2)) with K = ceil(log2 P): all K sends of a rank begin at once and share its NIC.

    So all of them end with the last one, and the child with the largest tree comes no sooner than the others.
    """
    time = 0.0 * message.way
    while ranks > 1:
        time = time + message.one_way + (levels(ranks) - 1) * message.between_sends
        ranks //= 2
    return time


def most_bits(number: int) -> int:
    """The most bits that a number up to `number` has, of those with the same highest bit.

    >>> [most_bits(number) for number in (1, 2, 3, 4, 6, 7)]
    [1, 1, 2, 1, 2, 3]
    """
    best, seen = number.bit_count(), 1
    for bit in range(number.bit_length() - 2, -1, -1):
        if number >> bit & 1:
            best = max(best, seen + bit)
            seen += 1
    return best


def binomial_combine(message: Message, ranks: int) -> Seconds:
    """T(P) = the later of T(ceil(P/2)) and T(floor(P/2)) + T, one more receive: up the binomial tree.

    On powers of two T + (log2 P - 1) max(T, e). A tree of P ranks is one of ceil(P/2) whose root hears last from the
    root of one of floor(P/2).
    """
    known: dict[int, Rank] = remembered(message, "binomial combine")

    def root(count: int) -> Rank:
        if count not in known:
            known[count] = combined(count)
        return known[count]

    def combined(count: int) -> Rank:
        if count == 1:
            return Rank()
        _, arrival = root(count // 2).send(message)
        return root(count - count // 2).receive(message, arrival)

    return root(ranks).free + 0.0 * message.way


def run_combine(blocks: BlockMessage, ranks: int) -> Seconds:
    """Up the binomial tree whose subtrees are runs of ranks: the root of P hears from runs of 1, 2, 4, … ranks.

    Child i sends min(2^i, P - 2^i) blocks when its own run is complete. Where the last child's blocks come last, all
    that the root did before is what the root of the other runs does.
    """

    @cache
    def message(run: int) -> Message:
        return blocks(run)

    @cache
    def arrival(run: int) -> Seconds:
        return root(run).send(message(run))[1]

    @cache
    def last_arrival(count: int) -> Seconds:
        return latest([arrival(run) for run in _runs(count)])

    @cache
    def root(count: int) -> Rank:
        runs = _runs(count)
        if len(runs) > 1 and np.all(last_arrival(count - runs[-1]) <= arrival(runs[-1])):
            return root(count - runs[-1]).receive(message(runs[-1]), arrival(runs[-1]))
        return Rank().receive_all([message(run) for run in runs], [arrival(run) for run in runs])

    return root(ranks).free + 0.0 * blocks(1).way


def _runs(count: int) -> list[int]:
    """The blocks of each child of a root of `count` ranks.

    >>> _runs(1), _runs(8), _runs(11)
    ([], [1, 2, 4], [1, 2, 4, 3])
    """
    return [min(1 << i, count - (1 << i)) for i in range(levels(count))]


def run_release(blocks: BlockMessage, ranks: int) -> Seconds:
    """Down the same tree, the largest run first: the last rank's time, or the last send's end."""

    @cache
    def below(count: int) -> Seconds:
        rank, ends = Rank(), [0.0 * blocks(1).way]
        for run in reversed(_runs(count)):
            message = blocks(run)
            rank, arrival = rank.send(message)
            ends.append(arrival + message.receive_busy + below(run))
        return latest([*ends, ends[0] + rank.free])

    return below(ranks)
