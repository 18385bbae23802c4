"""`chiplog schedule` and `chiplog simulate` as users run them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command import Finished, chiplog
from json_schemas import validate
from model_files import example_fit

from chiplog.fitting.model_file import write_model
from chiplog.fitting.result import Parameter, Segment

GOLDEN = ("--L", 2500, "--o", 1500, "--g", 1000, "--G", 6, "--O", 0, "--S", 65535)
STUCK = """num_ranks 2
rank 0 {
  l1: recv 8b from 1 tag 3
  l2: send 8b to 1 tag 4
  l2 requires l1
}
rank 1 {
  l1: recv 8b from 0 tag 4
  l2: send 8b to 0 tag 3
  l2 requires l1
}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "by_hand.goal"
    path.write_text(text)
    return path


def schedule(out: Path, operation: str, *options: object) -> Path:
    finished = chiplog("schedule", operation, *options, "-o", out)
    assert finished.code == 0, finished.stderr
    return out


def test_a_schedule_goes_through_goal_into_the_simulator(tmp_path: Path) -> None:
    goal = schedule(
        tmp_path / "r.goal", "reduce", "--algorithm", "binomial", "--ranks", 8, "--bytes", 1024
    )
    finished = chiplog("simulate", goal, *GOLDEN, "--json", "-")
    assert finished.code == 0, finished.stderr
    result = json.loads(finished.stdout)
    validate(result)
    assert result["finish_ns"] == [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500]
    assert result["makespan_ns"] == 34914
    assert result["events"] == 3 * 7


def test_a_fractional_G_keeps_its_picoseconds(tmp_path: Path) -> None:
    goal = written(
        tmp_path, "num_ranks 2\nrank 0 {\nsend 11b to 1\n}\nrank 1 {\nrecv 11b from 0\n}\n"
    )
    finished = chiplog(
        "simulate", goal, "--L", 10, "--o", 1, "--g", 1, "--G", "0.0849", "--json", "-"
    )
    assert json.loads(finished.stdout)["finish_ns"] == [1, 12.849]


def test_a_trace_holds_every_busy_time_and_an_arrow_for_each_message(tmp_path: Path) -> None:
    goal = schedule(tmp_path / "b.goal", "barrier", "--algorithm", "dissemination", "--ranks", 4)
    trace = tmp_path / "trace.json"
    assert chiplog("simulate", goal, *GOLDEN, "--trace", trace).code == 0
    events = json.loads(trace.read_text())["traceEvents"]
    by_phase = {phase: [e for e in events if e["ph"] == phase] for phase in "MXsf"}
    assert [len(by_phase[phase]) for phase in "MXsf"] == [4, 16, 8, 8]
    assert {e["id"] for e in by_phase["s"]} == {e["id"] for e in by_phase["f"]}
    assert max(e["ts"] + e["dur"] for e in by_phase["X"]) == pytest.approx(11.0)


def test_a_report_shows_the_schedule_over_time(tmp_path: Path) -> None:
    """A bar for each send and receive, a line for each message, a row for each rank."""
    goal = schedule(tmp_path / "b.goal", "bcast", "--algorithm", "binomial", "--ranks", 4)
    page = tmp_path / "page.html"
    finished = chiplog("simulate", goal, *GOLDEN, "--report", page)
    assert finished.code == 0, finished.stderr
    text = page.read_text()
    counts = {
        name: text.count(f'class="{name}"') for name in ("send", "receive", "message", "rank")
    }
    assert counts == {"send": 3, "receive": 3, "message": 3, "rank": 4}
    assert "11.0000\u00a0us" in text
    assert "<title>rank 0, line 4: send 1b to 1 tag 0</title>" in text


def test_a_schedule_too_large_for_a_picture_is_refused(tmp_path: Path) -> None:
    goal = schedule(tmp_path / "b.goal", "bcast", "--algorithm", "linear", "--ranks", 200)
    finished = chiplog("simulate", goal, *GOLDEN, "--report", tmp_path / "page.html")
    refused(finished, 2, "--report", "128 ranks", "--trace")


def test_noise_nodes_and_free_messages_reach_the_simulator(tmp_path: Path) -> None:
    goal = written(tmp_path, "num_ranks 1\nrank 0 {\ncalc 1000\n}\n")
    lost = tmp_path / "lost.txt"
    lost.write_text("# start and length\n10 990\n")
    finished = chiplog("simulate", goal, *GOLDEN, "--noise-trace", lost, "--json", "-")
    assert finished.code == 0, finished.stderr
    assert 98_000 <= json.loads(finished.stdout)["makespan_ns"] <= 101_000
    plain = ("--noise", "exponential:0us", "--free", 2, "--per-node", 4, "--node-rate", 1e9)
    finished = chiplog("simulate", goal, *GOLDEN, *plain, "--json", "-")
    assert json.loads(finished.stdout)["makespan_ns"] == 1000
    refused(chiplog("simulate", goal, *GOLDEN, "--per-node", 4), 2, "--node-rate")
    refused(chiplog("simulate", goal, *GOLDEN, "--classes", lost), 2, "--classes", "leave out")


def fitted(**values: float) -> dict[str, Parameter]:
    return {name: Parameter(name, value, None, None, "s", True) for name, value in values.items()}


def test_a_message_takes_the_parameters_of_its_own_protocol(tmp_path: Path) -> None:
    segments = (
        Segment(8, 100, fitted(L=5e-6, o_s=1e-6, o_r=3e-6, g=1e-6, G=1e-9)),
        Segment(101, 4096, fitted(L_half=20e-6, o_s=4e-6, G=2e-9)),
    )
    model = tmp_path / "model.json"
    write_model(model, [replace(example_fit(), segments=segments, curves=())])
    for size, expected_ns in ((1, 2 + 5 + 2), (101, 20 + 0.2), (1001, 20 + 2)):
        text = (
            f"num_ranks 2\nrank 0 {{\nsend {size}b to 1\n}}\nrank 1 {{\nrecv {size}b from 0\n}}\n"
        )
        finished = chiplog("simulate", written(tmp_path, text), "--model", model, "--json", "-")
        assert finished.code == 0, finished.stderr
        assert "taken as 0" not in finished.stderr
        assert json.loads(finished.stdout)["makespan_ns"] == pytest.approx(1000 * expected_ns)


def test_a_model_without_a_latency_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    write_model(model, [example_fit()])
    wanted = ("--algorithm", "dissemination", "--ranks", 2, "--bytes", 20000)
    goal = schedule(tmp_path / "b.goal", "barrier", *wanted)
    refused(
        chiplog("simulate", goal, "--model", model),
        2,
        "12289 to 65536 B: ",
        " is not identified",
        "chiplog measure tcp --pattern",
    )


def refused(finished: Finished, code: int, *words: str) -> None:
    assert finished.code == code, finished.stderr
    assert finished.stdout == ""
    assert "Traceback" not in finished.stderr
    for word in words:
        assert word in finished.stderr


def test_a_deadlock_names_the_ranks_and_operations_that_wait(tmp_path: Path) -> None:
    goal = written(tmp_path, STUCK)
    finished = chiplog("simulate", goal, *GOLDEN)
    refused(
        finished, 1, str(goal), "can't finish", "ranks 0, 1", "rank 0, line 3: recv 8b from 1 tag 3"
    )


def test_a_cycle_is_called_one(tmp_path: Path) -> None:
    goal = written(
        tmp_path, "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\nb requires a\n}\n"
    )
    refused(chiplog("simulate", goal, *GOLDEN), 1, "cycle", "rank 0, line 3: calc 1")


def test_a_message_that_nobody_receives_is_named(tmp_path: Path) -> None:
    goal = written(tmp_path, "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 5\n}\nrank 1 {\n}\n")
    refused(chiplog("simulate", goal, *GOLDEN), 1, "rank 0, line 3: send 8b to 1 tag 5 (nobody")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("num_ranks 1\nrank 0 {\nl1: sent 8b to 0\n}\n", ("line 3", "'sent'", "'send'")),
        ("num_ranks 2\nrank 0 {\nsend 8b to 2\n}\n", ("line 3", "'2'", "at most 1")),
        ("num_ranks 2\nrank 0 {\n}\n", ("line 4", "end of the file", "'rank 1'")),
        ("num_ranks 4000000000\nrank 0 {\n}\n", ("line 4", "'rank 1'")),
        ("num_ranks 1\nrank 0 {\nl1: calc 1\nl1 requires l9\n}\n", ("line 4", "'l9'")),
        ("num_ranks 1\nrank 0 {\ncalc 99999999999999999999\n}\n", ("line 3", "2^64")),
        ("", ("line 1", "'num_ranks'")),
        ("num_ranks 1\nrank 0 {\ncalc 1 /* no end\n}\n", ("line 3", "comment")),
        ("num_ranks 1\nrank 0 {\nl: calc 1\nl: calc 1\n}\n", ("line 4", "'l'", "twice")),
    ],
)
def test_what_is_no_goal_is_refused_with_line_and_word(
    tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    goal = written(tmp_path, text)
    refused(chiplog("simulate", goal, *GOLDEN), 5, f"{goal}: ", *words)


def test_wrong_usage_names_the_option(tmp_path: Path) -> None:
    goal = schedule(tmp_path / "b.goal", "barrier", "--algorithm", "linear", "--ranks", 2)
    refused(chiplog("simulate", goal, "--L", 1), 2, "--o, --g, --G", "missing")
    refused(chiplog("simulate", goal, *GOLDEN[2:], "--L", "fast"), 2, "--L", "nanoseconds")
    refused(chiplog("simulate", tmp_path / "none.goal", *GOLDEN), 2, "none.goal")
    refused(
        chiplog("schedule", "barrier", "--algorithm", "tree", "--ranks", 0, "-o", goal),
        2,
        "--ranks",
    )
    refused(
        chiplog("schedule", "barrier", "--algorithm", "x", "--ranks", 2, "-o", goal), 2, "there are"
    )


def test_a_time_beyond_the_clock_is_an_error_and_no_wrong_number(tmp_path: Path) -> None:
    goal = written(tmp_path, "num_ranks 1\nrank 0 {\ncalc 9223372036854775807\n}\n")
    refused(chiplog("simulate", goal, *GOLDEN), 1, "106 days")
