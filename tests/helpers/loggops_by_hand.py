"""LogGOPS once more, slowly: every waiting operation stays in one heap and tries again when what it needs is free.

Written from the model's description alone, with lists and no shortcuts; the simulator must agree bit for bit.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

ANY = -1


@dataclass
class Op:
    kind: str  # send, recv, calc
    amount: int
    peer: int = 0
    tag: int = 0
    cpu: int = 0
    nic: int = 0
    ends: list[int] = field(default_factory=list)  # indices, on the same rank, that must have ended
    starts: list[int] = field(default_factory=list)  # … that must have started


@dataclass(frozen=True)
class Params:
    L: int
    o: int
    g: int
    G: int
    O: int


@dataclass(frozen=True)
class BySize:
    short: Params
    long: Params  # of more than `last_short` bytes
    last_short: int
    S: int

    def of(self, op: Op) -> Params:
        return self.long if op.amount > self.last_short else self.short


@dataclass(frozen=True)
class Extras:
    """What may be added to LogGOPS; times are picoseconds."""

    free_messages: int = 1
    ranks_per_node: int = 0
    node_ps_per_byte: int = 0
    group_of_rank: Sequence[int] = ()
    between: Sequence[Sequence[BySize]] = ()  # by the sender's group and the receiver's
    distribution: str = "none"
    mean_ps: float = 0.0
    mean_share: float = 0.0
    probability: float = 1.0
    detours: Sequence[tuple[int, int]] = ()
    seed: int = 0


def mixed(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) % 2**64
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
    return value ^ (value >> 31)


def draw(*keys: int) -> int:
    state = mixed(keys[0])
    for key in keys[1:]:
        state = mixed((state + key) % 2**64)
    return state


class SlowNoise:
    """Lost times are walked through one after the other."""

    def __init__(self, extras: Extras, ranks: int) -> None:
        self.extras = extras
        self.intervals = [0] * ranks

    def end(self, rank: int, start: int, duration: int) -> int:
        if self.extras.distribution != "none":
            duration += self.drawn(rank, duration)
        return (
            self.behind_detours(rank, start, duration) if self.extras.detours else start + duration
        )

    def drawn(self, rank: int, duration: int) -> int:
        interval = self.intervals[rank]
        self.intervals[rank] += 1
        hit, u, v = (
            ((draw(self.extras.seed, rank, interval, which) >> 11) + 1) * 2.0**-53
            for which in range(3)
        )
        if hit > self.extras.probability:
            return 0
        of_mean_one = {
            "exponential": -math.log(u),
            "half-normal": math.sqrt(math.pi / 2)
            * math.sqrt(-2 * math.log(u))
            * abs(math.cos(2 * math.pi * v)),
            "pareto": 1 / math.sqrt(u) - 1,
        }[self.extras.distribution]
        mean = self.extras.mean_ps + self.extras.mean_share * duration
        return math.floor(mean * of_mean_one + 0.5)

    def behind_detours(self, rank: int, start: int, duration: int) -> int:
        detours = self.extras.detours
        period = sum(detours[-1])
        now = start + draw(self.extras.seed, rank, 2**64 - 1, 0) % period
        behind_trace = now - start
        left = duration
        while left > 0:
            begin, length = next(one for one in detours if sum(one) > now % period)
            wait = begin - now % period
            if wait > 0:
                worked = min(left, wait)
                now, left = now + worked, left - worked
            else:
                now += wait + length
        return now - behind_trace


class Slow:
    """`programs` holds the operations of each rank, in order; times are picoseconds."""

    def __init__(
        self, programs: list[list[Op]], params: BySize, extras: Extras | None = None
    ) -> None:
        self.programs, self.params = programs, params
        self.extras = extras or Extras()
        self.noise = SlowNoise(self.extras, len(programs))
        self.links: dict[int, int] = {}
        everything = [op for program in programs for op in program]
        self.cpus = max((op.cpu for op in everything), default=0) + 1
        self.nics = max((op.nic for op in everything), default=0) + 1
        ranks = range(len(programs))
        self.cpu = [[0] * self.cpus for _ in ranks]
        self.send_nic = [[0] * self.nics for _ in ranks]
        self.receive_nic = [[0] * self.nics for _ in ranks]
        self.posted: list[list[int]] = [[] for _ in ranks]
        self.arrived: list[list[tuple[int, int, int]]] = [[] for _ in ranks]
        self.end: dict[tuple[int, int], int] = {}
        self.start: dict[tuple[int, int], int] = {}
        self.released: set[tuple[int, int]] = set()
        self.met: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.heap: list[tuple[int, int, str, int, int]] = []
        self.order = 0
        self.events = 0
        self.clock = 0

    def run(self) -> list[int] | None:
        """When each rank is done, or None where the schedule can't finish."""
        for rank in range(len(self.programs)):
            self.release(rank, list(range(len(self.programs[rank]))))
        while self.heap:
            time, order, what, rank, index = heapq.heappop(self.heap)
            assert time >= self.clock
            self.clock = time
            touched = getattr(self, what)(time, order, rank, index)
            for one in sorted({where for where, _ in touched}):
                self.release(one, [i for where, i in touched if where == one])
        done = len(self.end) == sum(map(len, self.programs)) and not any(self.arrived)
        return [max(cpus) for cpus in self.cpu] if done else None

    def params_of(self, rank: int, op: Op) -> Params:
        if not self.extras.between:
            return self.params.of(op)
        groups = self.extras.group_of_rank
        return self.extras.between[groups[rank]][groups[op.peer]].of(op)

    def send_may_start(self, rank: int, op: Op) -> int:
        return max(self.cpu[rank][op.cpu], self.send_nic[rank][op.nic] - self.ahead())

    def ahead(self) -> int:
        """How long before its NIC is free a send may start."""
        base = self.extras.between[0][0] if self.extras.between else self.params
        return (self.extras.free_messages - 1) * base.short.g

    def behind_others_of_the_node(self, rank: int, op: Op, time: int, wire: int) -> int:
        """How much later than its own NIC would send it a message is out."""
        k = self.extras.ranks_per_node
        if k == 0 or rank // k == op.peer // k:
            return 0
        begin = max(self.links.get(rank // k, 0), time)
        self.links[rank // k] = begin + self.size(op) * self.extras.node_ps_per_byte
        return max(0, self.links[rank // k] - (time + wire))

    def size(self, op: Op) -> int:
        return max(op.amount, 1) - 1

    def push(self, time: int, order: int, what: str, rank: int, index: int) -> None:
        heapq.heappush(self.heap, (time, order, what, rank, index))

    def next_order(self) -> int:
        self.order += 1
        return self.order

    def release(self, rank: int, candidates: list[int]) -> None:
        """Puts into the heap whatever has all its requirements met, sends first, then receives, then calcs.

        A candidate stands once for each requirement that has just been met; the last one is what it waited for.
        """
        program = self.programs[rank]
        ready = []
        for index in reversed(dict.fromkeys(reversed(candidates))):
            op = program[index]
            if (rank, index) in self.released:
                continue
            if all((rank, i) in self.end for i in op.ends) and all(
                (rank, i) in self.start for i in op.starts
            ):
                self.released.add((rank, index))
                ready.append(index)
        ready.sort(key=lambda index: ["send", "recv", "calc"].index(program[index].kind))
        for index in ready:
            op = program[index]
            when = [self.end[rank, i] for i in op.ends] + [self.start[rank, i] for i in op.starts]
            time = max([self.cpu[rank][op.cpu], *when])
            if op.kind == "send":
                time = max(time, self.send_may_start(rank, op))
            self.push(time, self.next_order(), op.kind, rank, index)

    def those_after(self, rank: int, index: int, how: str) -> list[tuple[int, int]]:
        return [(rank, i) for i, op in enumerate(self.programs[rank]) if index in getattr(op, how)]

    def calc(self, time: int, order: int, rank: int, index: int) -> list[tuple[int, int]]:
        op = self.programs[rank][index]
        if self.cpu[rank][op.cpu] > time:
            self.push(self.cpu[rank][op.cpu], order, "calc", rank, index)
            return []
        self.events += 1
        self.cpu[rank][op.cpu] = self.noise.end(rank, time, 1000 * op.amount)
        self.start[rank, index] = time
        self.end[rank, index] = self.cpu[rank][op.cpu]
        return self.those_after(rank, index, "starts") + self.those_after(rank, index, "ends")

    def send(self, time: int, order: int, rank: int, index: int) -> list[tuple[int, int]]:
        op = self.programs[rank][index]
        p = self.params_of(rank, op)
        free = self.send_may_start(rank, op)
        if free > time:
            self.push(free, order, "send", rank, index)
            return []
        self.events += 1
        busy = p.o + self.size(op) * p.O
        wire = self.size(op) * p.G
        link = self.behind_others_of_the_node(rank, op, time, wire)
        self.cpu[rank][op.cpu] = self.noise.end(rank, time, busy)
        self.send_nic[rank][op.nic] = max(self.send_nic[rank][op.nic], time) + p.g + wire + link
        late = self.cpu[rank][op.cpu] - (time + busy) + link
        self.push(time + p.o + p.L + late, self.next_order(), "message", rank, index)
        self.start[rank, index] = time
        touched = self.those_after(rank, index, "starts")
        if op.amount <= self.params.S:
            self.end[rank, index] = self.cpu[rank][op.cpu]
            touched += self.those_after(rank, index, "ends")
        return touched

    def message(self, time: int, order: int, source: int, index: int) -> list[tuple[int, int]]:
        op = self.programs[source][index]
        p = self.params_of(source, op)
        rank = op.peer
        free = max(self.cpu[rank][op.cpu], self.receive_nic[rank][op.nic])
        if free > time:
            self.push(free, order, "message", source, index)
            return []
        self.events += 1
        end = self.noise.end(rank, time, p.o + self.size(op) * max(p.O, p.G))
        self.cpu[rank][op.cpu] = end
        self.receive_nic[rank][op.nic] = time + p.g + self.size(op) * p.G
        for receive in self.posted[rank]:
            if self.matches(self.programs[rank][receive], source, op.tag):
                self.posted[rank].remove(receive)
                touched = self.let_go(time, source, index)
                self.end[rank, receive] = end
                return touched + self.those_after(rank, receive, "ends")
        self.arrived[rank].append((source, index, end))
        return []

    def recv(self, time: int, _order: int, rank: int, index: int) -> list[tuple[int, int]]:
        self.events += 1
        self.start[rank, index] = time
        touched = self.those_after(rank, index, "starts")
        for source, message, end in self.arrived[rank]:
            tag = self.programs[source][message].tag
            if self.matches(self.programs[rank][index], source, tag):
                self.arrived[rank].remove((source, message, end))
                touched += self.let_go(time, source, message)
                self.end[rank, index] = max(time, end)
                return touched + self.those_after(rank, index, "ends")
        self.posted[rank].append(index)
        return touched

    def matches(self, receive: Op, source: int, tag: int) -> bool:
        return receive.peer in (ANY, source) and receive.tag in (ANY, tag)

    def let_go(self, time: int, rank: int, index: int) -> list[tuple[int, int]]:
        op = self.programs[rank][index]
        if op.amount <= self.params.S:
            return []
        self.cpu[rank][op.cpu] = max(self.cpu[rank][op.cpu], time)
        self.send_nic[rank][op.nic] = max(self.send_nic[rank][op.nic], time + self.ahead())
        self.end[rank, index] = time
        return self.those_after(rank, index, "ends")
