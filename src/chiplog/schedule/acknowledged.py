"""Schedules whose sends end when the receiver has said that it has the message, in a message of its own."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chiplog.schedule.arrays import ANY, CALC, DEPENDENCY, RECEIVE, SEND, Schedule
from chiplog.schedule.traffic import Traffic

ACKNOWLEDGEMENT_BYTES = 0
"""Given: an acknowledgement carries nothing but itself."""
MOST_RESOURCES = 255
"""Given: the highest number of a CPU or a NIC."""
Places = NDArray[np.int64]
"""Indices of operations."""


def with_acknowledgements(
    schedule: Schedule, by_program: Collection[int], by_library: Collection[int] = ()
) -> Schedule:
    """The schedule where sends of these sizes, in bytes, end when an acknowledgement has come back.

    A receiver's program acknowledges a message before it goes on; a library, or a kernel, when the message is there,
    whatever the program does. What is added stands behind the operations of `schedule`, which keep their places. The
    schedule itself is returned where it has receives of any source or tag, whose senders only its execution tells, or
    sends without a receive.
    """
    sends, receives = _pairs(schedule)
    amounts = schedule.operations["amount"][sends]
    answered = np.isin(amounts, list(by_program))
    confirmed = sends[np.isin(amounts, list(by_library))]
    return _with_confirmations(
        _with_answers(schedule, sends[answered], receives[answered]), confirmed
    )


def _with_answers(schedule: Schedule, sends: Places, receives: Places) -> Schedule:
    """The receiver of each of these sends answers with a message."""
    operations = schedule.operations
    first_tag = _first_free_tag(operations)
    if not sends.size or first_tag + sends.size > ANY:
        return schedule
    added = operations[np.concatenate([receives, sends])]
    added["amount"] = ACKNOWLEDGEMENT_BYTES
    added["kind"] = np.repeat([SEND, RECEIVE], sends.size)
    added["tag"] = first_tag + np.tile(np.arange(sends.size), 2)
    added["traffic"] = Traffic.ACKNOWLEDGEMENT
    answers = operations.size + np.arange(sends.size)
    arrivals = answers + sends.size
    return _longer(
        schedule,
        added,
        (
            _dependencies(answers, receives),
            _also_after(schedule, np.concatenate([receives, sends]), operations.size),
        ),
        _dependencies(arrivals, sends),
    )


def _with_confirmations(schedule: Schedule, sends: Places) -> Schedule:
    """Each of these sends ends with a message from its rank to itself, which takes as long as there and back.

    It begins with the send, by a CPU and a NIC that nothing else has, so nothing delays it and it delays nothing.
    """
    operations = schedule.operations
    first_tag = _first_free_tag(operations)
    unused = [int(operations[name].max(initial=0)) + 1 for name in ("cpu", "nic")]
    if not sends.size or first_tag + sends.size > ANY or max(unused) > MOST_RESOURCES:
        return schedule
    added = np.tile(operations[sends], 2)
    added["kind"] = np.repeat([RECEIVE, SEND], sends.size)
    added["peer"] = added["rank"]
    added["tag"] = first_tag + np.tile(np.arange(sends.size), 2)
    added["cpu"], added["nic"] = unused
    added["traffic"] = Traffic.CONFIRMATION
    places = operations.size + np.arange(added.size)
    return _longer(
        schedule,
        added,
        (_also_after(schedule, sends, operations.size),),
        _dependencies(places, np.tile(sends, 2)),
    )


def _first_free_tag(operations: NDArray[np.void]) -> int:
    return int(operations["tag"].max(initial=0)) + 1


def _longer(
    schedule: Schedule,
    added: NDArray[np.void],
    ends: tuple[NDArray[np.void], ...],
    starts: NDArray[np.void],
) -> Schedule:
    """The schedule with further operations and dependencies."""
    return replace(
        schedule,
        operations=np.concatenate([schedule.operations, added]),
        requires_end=np.concatenate([schedule.requires_end, *ends]),
        requires_start=np.concatenate([schedule.requires_start, starts]),
        lines=None,
    )


def _pairs(schedule: Schedule) -> tuple[Places, Places]:
    """All sends and the receive of each, in the order in which MPI matches them; none where that is not known."""
    operations = schedule.operations
    sends, receives = (np.flatnonzero(operations["kind"] == kind) for kind in (SEND, RECEIVE))
    sent, received = (
        np.stack([operations[name][places] for name in names])
        for places, names in ((sends, ("tag", "peer", "rank")), (receives, ("tag", "rank", "peer")))
    )
    in_order, received_in_order = np.lexsort(sent), np.lexsort(received)
    is_open = operations["kind"] != CALC
    is_open &= (operations["peer"] == ANY) | (operations["tag"] == ANY)
    if is_open.any() or not np.array_equal(sent[:, in_order], received[:, received_in_order]):
        return sends[:0], receives[:0]
    return sends[in_order], receives[received_in_order]


def _also_after(schedule: Schedule, places: Places, first_added: int) -> NDArray[np.void]:
    """What waits for the end of one of `places` waits for the operation that was added for it, too."""
    added_for = np.zeros(schedule.operations.size, np.int64)
    added_for[places] = first_added + np.arange(places.size)
    added = added_for[schedule.requires_end["on"]]
    waits = added > 0
    return _dependencies(schedule.requires_end["operation"][waits], added[waits])


def _dependencies(operations: Places, on: Places) -> NDArray[np.void]:
    dependencies = np.empty(operations.size, DEPENDENCY)
    dependencies["operation"], dependencies["on"] = operations, on
    return dependencies
