"""LogGOPS once more, slowly: every waiting operation stays in one heap and tries again when what it needs is free.

Written from the model's description alone, with lists and no shortcuts; the simulator must agree bit for bit.
"""

from __future__ import annotations

import heapq
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


class Slow:
    """`programs` holds the operations of each rank, in order; times are picoseconds."""

    def __init__(self, programs: list[list[Op]], params: BySize) -> None:
        self.programs, self.params = programs, params
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
                time = max(time, self.send_nic[rank][op.nic])
            self.push(time, self.next_order(), op.kind, rank, index)

    def those_after(self, rank: int, index: int, how: str) -> list[tuple[int, int]]:
        return [(rank, i) for i, op in enumerate(self.programs[rank]) if index in getattr(op, how)]

    def calc(self, time: int, order: int, rank: int, index: int) -> list[tuple[int, int]]:
        op = self.programs[rank][index]
        if self.cpu[rank][op.cpu] > time:
            self.push(self.cpu[rank][op.cpu], order, "calc", rank, index)
            return []
        self.events += 1
        self.cpu[rank][op.cpu] = time + 1000 * op.amount
        self.start[rank, index] = time
        self.end[rank, index] = time + 1000 * op.amount
        return self.those_after(rank, index, "starts") + self.those_after(rank, index, "ends")

    def send(self, time: int, order: int, rank: int, index: int) -> list[tuple[int, int]]:
        op = self.programs[rank][index]
        p = self.params.of(op)
        free = max(self.cpu[rank][op.cpu], self.send_nic[rank][op.nic])
        if free > time:
            self.push(free, order, "send", rank, index)
            return []
        self.events += 1
        self.cpu[rank][op.cpu] = time + p.o + self.size(op) * p.O
        self.send_nic[rank][op.nic] = time + p.g + self.size(op) * p.G
        self.push(time + p.o + p.L, self.next_order(), "message", rank, index)
        self.start[rank, index] = time
        touched = self.those_after(rank, index, "starts")
        if op.amount <= self.params.S:
            self.end[rank, index] = self.cpu[rank][op.cpu]
            touched += self.those_after(rank, index, "ends")
        return touched

    def message(self, time: int, order: int, source: int, index: int) -> list[tuple[int, int]]:
        op = self.programs[source][index]
        p = self.params.of(op)
        rank = op.peer
        free = max(self.cpu[rank][op.cpu], self.receive_nic[rank][op.nic])
        if free > time:
            self.push(free, order, "message", source, index)
            return []
        self.events += 1
        end = time + p.o + self.size(op) * max(p.O, p.G)
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
        self.send_nic[rank][op.nic] = max(self.send_nic[rank][op.nic], time)
        self.end[rank, index] = time
        return self.those_after(rank, index, "ends")
