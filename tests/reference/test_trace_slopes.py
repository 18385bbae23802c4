"""The slopes of replayed traces of real programs are finite differences, in L, o and g exactly, in G nearly."""

from __future__ import annotations

from dataclasses import replace

import pytest
from needs import require_data

from chiplog.application.replay import schedule_of
from chiplog.collectives.mpis.known import release_named
from chiplog.errors import UsageError
from chiplog.schedule import Schedule
from chiplog.simulation import LogGOPS, Protocol, simulate
from chiplog.tracing.importer import TraceOptions, read_trace

TRACES = {
    "traces/sweep3d": -2,
    "traces/sst-macro-otf2": None,
    "traces/pingpong-otf2": None,
    "traces/dumpi": None,
    "traces/simgrid-ti/ti_traces_32_1.tgz": None,
}
PARAMETERS = {
    "the cluster of the published answer": {"L": 6000, "o": 1500, "g": 2000, "G": 5},
    "a slow one": {"L": 45_000, "o": 7001, "g": 3, "G": "0.87"},
    "one whose gaps bind": {"L": 300, "o": 90, "g": 5007, "G": "0.031"},
}
STEPS = {"L_ps": 1, "o_ps": 1, "g_ps": 1, "G_as": 10**6}
"""One picosecond, of G a byte: then no message's time is rounded."""
MOST_OF_G = 1e-3


@pytest.fixture(scope="module", params=TRACES)
def schedule(request: pytest.FixtureRequest) -> Schedule:
    options = TraceOptions(TRACES[request.param])
    try:
        trace = read_trace(require_data(request.param), options)
    except UsageError as error:
        if "otf2" in str(error):
            pytest.skip(str(error))
        raise
    return schedule_of(trace, 1e9, release_named("openmpi-4.1").choose).schedule


@pytest.mark.parametrize("times", PARAMETERS.values(), ids=PARAMETERS)
@pytest.mark.parametrize("largest_eager_bytes", [2**64 - 1, 4096])
def test_slopes_of_real_traces_are_differences(
    schedule: Schedule, times: dict[str, float | str], largest_eager_bytes: int
) -> None:
    """Of steps that change the order of events on one side, the other side's difference is the slope."""
    protocol = Protocol.from_ns(**times)  # type: ignore[arg-type]

    def makespan_ps(name: str, by: int) -> int:
        changed = replace(protocol, **{name: getattr(protocol, name) + by})
        return simulate(schedule, LogGOPS((changed,), largest_eager_bytes)).makespan_ps

    parameters = LogGOPS((protocol,), largest_eager_bytes)
    middle = simulate(schedule, parameters, follow=True)
    assert middle.critical_path is not None
    slopes = middle.critical_path.slopes(middle.schedule, parameters)
    assert slopes is not None
    for name, step in STEPS.items():
        slope = getattr(slopes, name[0])
        more = makespan_ps(name, step) - middle.makespan_ps
        less = middle.makespan_ps - makespan_ps(name, -step)
        if name == "G_as":
            assert min(abs(more - slope), abs(less - slope)) <= MOST_OF_G * slope
        else:
            assert slope in (more, less), name
