"""Whatever a fit does not know, what leaves it never excludes the machine, and no unknown becomes 0."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace

import numpy as np
import pytest
from many_runs import LONG
from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.errors import UsageError
from chiplog.export.formats.loggopsim import loggopsim_text
from chiplog.export.formats.simgrid import simgrid_text
from chiplog.fitting.result import FREE, Fit, Parameter, Segment
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.prediction.n_way import N_WAY
from chiplog.prediction.predict import predict
from chiplog.schedule import Schedule, ScheduleBuilder
from chiplog.tune.choose import choose

MACHINES = 25 if LONG else 8
"""Drawn machines that each claim is held against; some predictions of six regimes take ten seconds."""
SYMBOLS = ("L", "o_s", "o_r", "g", "G", "O_s", "O_r", "G_half")
ROUNDING = 1e-9
TASKS = (("barrier", 1), ("bcast", 3000), ("allreduce", 20000), ("gather", 200), ("alltoall", 64))


def truth(draw: random.Random) -> dict[str, float]:
    """A machine of LogGOPS."""

    def time() -> float:
        return 10 ** draw.uniform(-7, -5)

    def slope() -> float:
        return 10 ** draw.uniform(-11, -9)

    slopes = {"G": slope(), "O_s": slope(), "O_r": slope()}
    starts = {"L": time(), "o_s": time(), "o_r": time()}
    # A ping-pong, whose ranks send once a round trip, does not wait for the gap.
    return {**starts, "g": min(time(), 2.0 * sum(starts.values())), **slopes}


def machine(draw: random.Random) -> tuple[Fit, Fit]:
    """The same machine with all known, and with some of it hidden; two regimes, sometimes of LogGP."""
    model = draw.choice(("loggops", "loggp"))
    whole, hidden = [], []
    for first, last in ((1, 1024), (1025, 1 << 20)):
        values = truth(draw)
        if model == "loggp":
            del values["O_s"], values["O_r"]
        half = values["L"] + values["o_s"] + values["o_r"]
        known = fit_of(model, {**values, "L_half": half}, first_bytes=first, last_bytes=last)
        whole.append(known.segments[0])
        hidden.append(hide(known.segments[0], draw))
    return replace(known, segments=tuple(whole)), replace(known, segments=tuple(hidden))


def hide(segment: Segment, draw: random.Random) -> Segment:
    """Leaves out any parameters, with bounds that hold, or with none; L goes with the overheads it is known by."""
    parameters = dict(segment.parameters)
    gone = {symbol for symbol in SYMBOLS if symbol in parameters and draw.random() < 0.4}
    if gone & {"o_s", "o_r"}:
        gone.add("L")
    for symbol in sorted(gone):  # in the order of any other process, so that a seed is one machine
        value = parameters[symbol].value
        assert value is not None
        low = draw.choice((0.0, value * draw.random()))
        high = draw.choice((None, value * (1 + draw.random())))
        unit = parameters[symbol].unit
        parameters[symbol] = Parameter(symbol, None, low, high, unit, False, "it is hidden.")
    return replace(segment, parameters=parameters)


def of_many_regimes(draw: random.Random) -> Fit:
    """LogGOPS over six regimes, some with slopes of their own for messages alone, and with anything hidden."""
    ends = [*sorted(draw.sample(range(2, 1 << 16), 5)), 1 << 20]
    segments = []
    for first, last in zip([1, *(end + 1 for end in ends)], ends, strict=False):
        values = truth(draw)
        half = values["L"] + values["o_s"] + values["o_r"]
        slope = values["G"] + values["O_s"] + values["O_r"]
        is_free = draw.random() < 0.5
        values |= {"L_half": half, "G_half": slope * (draw.uniform(0.3, 2.0) if is_free else 1.0)}
        known = fit_of("loggops", values, first_bytes=first, last_bytes=last)
        segment = replace(known.segments[0], form=FREE if is_free else None)
        segments.append(hide(segment, draw))
    return replace(known, segments=tuple(segments))


def check(error: UsageError) -> None:
    """A refusal names a parameter and the measurement that would tell it."""
    assert "is not identified" in str(error)
    assert "chiplog measure" in str(error)


def asked(fit: Fit, operation: str, size: int, ranks: int) -> dict[str, tuple[float, float, float]]:
    rows = predict([fit], operation, Task(ranks, size), peers=2)
    return {row.algorithm: (row.seconds, row.low, row.high) for row in rows}


@pytest.mark.parametrize("seed", range(MACHINES))
def test_no_prediction_excludes_the_machine_whatever_is_hidden(seed: int) -> None:
    draw = random.Random(seed)
    whole, hidden = machine(draw)
    for operation, size in TASKS:
        ranks = draw.choice((2, 4, 7, 16))
        expected = asked(whole, operation, size, ranks)
        try:
            found = asked(hidden, operation, size, ranks)
        except UsageError as error:
            check(error)
            continue
        for name, (_, low, high) in found.items():
            if name == "lower-bound":
                continue
            seconds = expected[name][0]
            assert seconds <= high * (1 + ROUNDING), (operation, name)
            if name != "logp-optimal":  # whoever knows the machine has a better tree
                assert low * (1 - ROUNDING) <= seconds, (operation, name)
            assert low > 0


@pytest.mark.parametrize("seed", range(MACHINES))
def test_many_regimes_of_any_form_are_answered_or_refused(seed: int) -> None:
    draw = random.Random(seed)
    fit = of_many_regimes(draw)
    for operation, size in TASKS:
        for ranks in (2, 8):
            try:
                found = asked(fit, operation, size * 7, ranks)
            except UsageError as error:
                check(error)
                continue
            assert all(low > 0 for name, (_, low, _) in found.items() if name != "lower-bound")
    for text in (simgrid_text, loggopsim_text):
        with contextlib.suppress(UsageError):
            text([fit])
    with contextlib.suppress(UsageError):
        FittedParameters(fit).simulate(round_trip(10, draw.randrange(1, 1 << 18)))


@pytest.mark.parametrize("seed", range(MACHINES))
def test_a_gain_holds_the_machines_own(seed: int) -> None:
    draw = random.Random(seed)
    whole, hidden = machine(draw)
    try:
        found = choose([hidden], "barrier", (2, 5, 8, 64), (N_WAY,))
    except UsageError as error:
        check(error)
        return
    for choice in found.choices:
        best, base = (
            predict([whole], "barrier", Task(choice.ranks), algorithm=N_WAY, peers=n)[0].seconds
            for n in (choice.best_peers, 1)
        )
        own = 1.0 - best / base
        assert choice.gain_low - ROUNDING <= own <= choice.gain_high + ROUNDING
        if choice.is_changed:
            assert own > 0


def round_trip(train: int, message_bytes: int) -> Schedule:
    """PRTT(n, 0, s): a train, and one message back when all of it is there."""
    builder = ScheduleBuilder(2)
    taken = []
    for _ in range(train):
        builder.send([0], to=[1], message_bytes=message_bytes)
        taken.append(builder.receive([1], source=[0], message_bytes=message_bytes))
    builder.send([1], to=[0], message_bytes=message_bytes, after=taken)
    builder.receive([0], source=[1], message_bytes=message_bytes)
    return builder.build()


@pytest.mark.parametrize("seed", range(8))
def test_a_simulation_holds_the_machines_own_and_gives_prtt_back(seed: int) -> None:
    draw = random.Random(seed)
    whole, hidden = machine(draw)
    for size in (1, 1000, 5000):
        for train in (1, 10):
            schedule = round_trip(train, size)
            own = FittedParameters(whole).simulate(schedule)
            values = {
                name: parameter.value
                for name, parameter in whole.segments[int(size > 1024)].parameters.items()
            }
            assert own.simulation.finish_ps[0] / 1e12 == pytest.approx(
                prtt(values, train, size), rel=1e-6
            )
            try:
                found = FittedParameters(hidden).simulate(schedule)
            except UsageError as error:
                check(error)
                continue
            makespan = own.simulation.makespan_ps
            assert found.low_ps - 50 <= makespan <= found.high_ps + 50


def prtt(values: dict[str, float], train: int, size: int) -> float:
    further, O_s, O_r = size - 1, values.get("O_s", 0.0), values.get("O_r", 0.0)
    way = values["L_half"] + further * (values["G"] + O_s + O_r)
    step = max(values["o_s"] + further * O_s, values["g"] + further * values["G"])
    if "O_r" in values:
        step = max(step, values["o_r"] + further * O_r)
    return 2 * way + (train - 1) * step


def test_a_dissemination_barrier_needs_no_more_than_the_half_round_trip() -> None:
    fit = fit_of(
        "loggp",
        {"L_half": 2e-6, "L": None, "o_s": None, "o_r": None, "g": None, "G": 1e-9},
        bounds={"g": (0.0, 2e-6)},
    )
    row, _ = predict([fit], "barrier", Task(64), algorithm="dissemination")
    assert row.low == pytest.approx(row.high) == pytest.approx(12e-6)


def test_a_parameter_that_nothing_bounds_is_named_with_the_measurement() -> None:
    fit = fit_of("loggp", {"L_half": 2e-6, "L": None, "o_s": None, "o_r": None, "G": None})
    with pytest.raises(
        UsageError, match=r"G is not identified.*chiplog measure sim --pattern prtt"
    ):
        predict([fit], "bcast", Task(4, 1000), algorithm="linear")
    assert np.isfinite(predict([fit], "bcast", Task(4, 1), algorithm="binomial")[0].high)
