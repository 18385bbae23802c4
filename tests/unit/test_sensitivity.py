"""What each parameter of the network matters to a replayed program, and to any schedule."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate
from random_schedules import random_programs, schedule_of
from trace_files import ring

import chiplog
from chiplog.cli import main
from chiplog.collectives.steps import Steps
from chiplog.errors import RunFailed
from chiplog.jobs.replay import ReplayBy
from chiplog.jobs.sensitivity import sensitivity
from chiplog.prediction.network_change import NetworkChange
from chiplog.prediction.sensitivity import PRECISION, added_latency, less_bandwidth, tolerated
from chiplog.schedule.arrays import Schedule
from chiplog.simulation import LogGOPS, simulate
from chiplog.simulation.sensitivity import SLOWER

BY_HAND = ("--L", "6000", "--o", "1500", "--g", "2000", "--G", "5")


def seconds_of(schedule: Schedule, parameters: LogGOPS) -> Callable[[NetworkChange], float]:
    return lambda change: simulate(schedule, change.of_parameters(parameters)).makespan_ps * 1e-12


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(("change", "first"), [(added_latency, 1e-9), (less_bandwidth, 0.01)])
def test_a_tolerance_is_what_a_scan_of_all_values_finds(
    seed: int, change: Callable[[float], NetworkChange], first: float
) -> None:
    """The scan's steps are a 50th of what was found; the time may fall again beyond the first crossing."""
    schedule = schedule_of(random_programs(seed, ranks=4, messages=30, wildcards=False, cpus=1))
    draw = random.Random(seed)
    parameters = LogGOPS.from_ns(
        L=draw.randrange(1000, 9000),
        o=draw.randrange(100, 2000),
        g=draw.randrange(100, 3000),
        G=0.7,
    )
    seconds = seconds_of(schedule, parameters)
    try:
        limit = (1.0 + SLOWER) * seconds(NetworkChange())
    except RunFailed:
        return
    amount = tolerated(seconds, change, first)
    assert amount is not None
    scan = amount * np.arange(1, 100) / 50.0
    too_long = np.array([seconds(change(value)) > limit for value in scan])
    crossing = scan[np.argmax(too_long)]
    if crossing < 0.97 * amount:  # a short rise before, between two steps of the search
        assert not too_long[scan < 0.99 * amount].all()
    else:
        assert crossing == pytest.approx(amount, rel=0.02 + PRECISION)


def chain() -> Schedule:
    """A message from rank 0 to 1, from there to 2, and so on to 8."""
    steps = Steps(9, 8)
    for step in range(8):
        steps.messages(np.array([step]), np.array([step + 1]), np.array([1]))
    return steps.build()


def test_a_chain_of_messages_gains_what_its_formula_says() -> None:
    """A ring of 8 steps, each o + L + o: T = 8 (L + 2 o), so that each part's share of it is known."""
    parameters = LogGOPS.from_ns(L=6000, o=2000, g=100, G=0)
    answer = sensitivity(chain(), ReplayBy(parameters=parameters))
    shares = {row.parameter: row.share for row in answer.gains}
    assert shares["latency"] == pytest.approx(0.6 * 0.1, rel=1e-3)
    assert shares["overhead"] == pytest.approx(0.4 * 0.1, rel=1e-3)
    assert shares["gap"] == shares["bandwidth"] == shares["computing"] == 0.0
    latency, byte_time = answer.tolerances
    assert latency.value == pytest.approx(6e-6 + 0.01 * 10e-6, rel=1e-3)
    assert byte_time.value is None


def test_the_screen_and_the_json_say_what_each_parameter_matters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "app.json"
    words = ["app", str(ring(tmp_path / "ring")), *BY_HAND, "--sensitivity", "--json", str(out)]
    assert main(words) == 0
    screen = capsys.readouterr().out
    assert "latency 10 % lower" in screen
    assert "It is 1 % slower from L = " in screen
    assert max(map(len, screen.splitlines())) <= 80
    content = json.loads(out.read_text())
    validate(content)
    assert sum(content["replay"]["critical_path"].values()) == pytest.approx(1.0)
    assert content["slopes"]["L"] > 0
    latency = content["tolerance"][0]
    assert (latency["parameter"], latency["slowdown"], latency["now"]) == ("L", 0.01, 6e-6)
    assert latency["value"] > latency["now"]
    assert [row["parameter"] for row in content["gains"]][-1] == "computing"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--sensitivity",), "--sensitivity: needs a model"),
        (("--change", "L+1us"), "--change: needs a model"),
        (("--compare", "model.json"), "--compare: needs a model"),
        ((*BY_HAND, "--change", "G+2"), "--change: 'G+2' is no change; it accepts L+TIME"),
        ((*BY_HAND, "--change", "G*nan"), "--change: 'G*nan' is no change"),
        ((*BY_HAND, "--change", "L+2k"), "--change: '2k' is not a time"),
    ],
)
def test_what_cannot_be_asked_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    assert main(["app", str(ring(tmp_path / "ring")), *words]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_change_takes_as_long_as_parameters_that_are_so(tmp_path: Path) -> None:
    folder, out = str(ring(tmp_path / "ring")), tmp_path / "app.json"
    asked = ("--change", "L+1us,o*2,G*3", "--json", str(out))
    assert main(["app", folder, *BY_HAND, *asked]) == 0
    (changed,) = json.loads(out.read_text())["alternatives"]
    so = ("--L", "7000", "--o", "3000", "--g", "2000", "--G", "15")
    assert main(["app", folder, *so, "--json", str(out)]) == 0
    assert changed["seconds"] == json.loads(out.read_text())["replay"]["seconds"]
    assert changed["saves"] < 0


def test_python_tells_it_with_the_intervals_of_a_fit(tmp_path: Path) -> None:
    run = chiplog.measure(
        "sim:L=5us,o=1us,g=2us,G=1ns", patterns=("ping_pong", "prtt"), sizes="1:64KiB"
    )
    fits = chiplog.fit(run)
    answer = chiplog.app(ring(tmp_path / "ring"), fits, sensitivity=True, anyway=True)
    assert answer.replay is not None
    matters = answer.replay.sensitivity
    assert matters is not None
    assert all(row.low <= row.share <= row.high for row in matters.gains)
    latency = matters.tolerances[0]
    assert latency.now == pytest.approx(5e-6, rel=0.02)
