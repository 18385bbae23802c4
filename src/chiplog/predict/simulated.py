"""Where a closed form is only a bound, small cases are simulated instead."""

from __future__ import annotations

from dataclasses import replace

from chiplog.collectives.algorithm import Algorithm, Task, TreeCosts
from chiplog.predict.loggops import LogGOPSProtocol
from chiplog.predict.loggp import LogGPSpeaker
from chiplog.simulate import LogGOPS, Protocol, simulate
from chiplog.simulate.parameters import NO_LIMIT_BYTES

NS_PER_SECOND = 1e9
PS_PER_SECOND = 1e12


def simulated_seconds(algorithm: Algorithm, task: Task, speaker: LogGPSpeaker) -> float:
    """The makespan of the algorithm's schedule under the fit's own values, in seconds."""
    limit = speaker.largest_eager_bytes
    protocols = speaker.network.protocols.protocols
    parameters = LogGOPS(
        tuple(
            _protocol(one, 0 if place == 0 else one.first_bytes)
            for place, one in enumerate(protocols)
        ),
        NO_LIMIT_BYTES if limit is None else limit,
    )
    message = speaker.network.message(task.message_bytes)
    costs = TreeCosts(float(message.between_sends[0]), float(message.one_way[0]))
    schedule = algorithm.schedule(replace(task, costs=costs))
    return simulate(schedule, parameters).makespan_ps / PS_PER_SECOND


def _protocol(one: LogGOPSProtocol, first_bytes: int) -> Protocol:
    values = {name: float(getattr(one, name)[0]) * NS_PER_SECOND for name in "LogGO"}
    return Protocol.from_ns(first_bytes=first_bytes, **values)
