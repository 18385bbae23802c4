"""The session against a stand-in probe that misbehaves in every way that a real one can."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.measurement.session import Session
from chiplog.plan import Request, SeriesRequest, StopRule

REQUEST = Request(7, 0, (SeriesRequest("prtt", 8),), StopRule(0.025, 6, 100, 10_000_000))
HEADER = '{"type":"header","schema":"chiplog.run/1"}'
RECORD = '{"type":"record","id":7,"series":[]}'


@contextmanager
def probe(
    script: str, margin_seconds: float = 20.0, meanwhile: Callable[[], object] | None = None
) -> Iterator[Session]:
    """A session with a Python program that has `say`, `read`, `sys`, `os`, `time` and runs `script`."""
    prelude = (
        "import os, sys, time, signal, subprocess\n"
        "def say(line): print(line, flush=True)\n"
        "read = sys.stdin.readline\n"
        f"header, record = {HEADER!r}, {RECORD!r}\n"
    )
    command = [sys.executable, "-c", prelude + script]
    with Session(
        command, margin_seconds=margin_seconds, start_seconds=20.0, meanwhile=meanwhile
    ) as session:
        yield session


def group_is_gone(group: int) -> bool:
    for _ in range(500):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_record_line_comes_back_as_the_probe_wrote_it() -> None:
    with probe("say(header); read(); say(record); read()") as session:
        assert session.header["schema"] == "chiplog.run/1"
        assert session.measure(REQUEST) == RECORD


def test_what_is_to_be_done_meanwhile_is_done_once_before_the_session_begins() -> None:
    done: list[str] = []
    with probe("say(header); read()", meanwhile=lambda: done.append("loaded")) as session:
        assert done == ["loaded"]
        assert session.header["type"] == "header"


def test_an_error_meanwhile_leaves_no_process() -> None:
    def fail() -> None:
        raise ValueError("mine")

    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    session = Session(command, meanwhile=fail)
    with pytest.raises(ValueError, match="mine"), session:
        raise AssertionError("the session has begun")
    assert group_is_gone(session.process_group)


def test_leaving_the_session_asks_the_probe_to_quit_and_leaves_no_process() -> None:
    with probe("say(header)\nwhile 'quit' not in read(): pass") as session:
        group = session.process_group
    assert group_is_gone(group)


def test_an_error_in_the_callers_own_code_leaves_no_process() -> None:
    with pytest.raises(ZeroDivisionError), probe("say(header); time.sleep(100)") as session:
        group = session.process_group
        _ = 1 / 0
    assert group_is_gone(group)


def test_a_probe_that_ignores_the_polite_signal_is_killed_with_its_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chiplog.measurement.members.GRACE_SECONDS", 0.2)
    script = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen(['sleep', '100'])\n"
        "say(header); time.sleep(100)"
    )
    with pytest.raises(ZeroDivisionError), probe(script) as session:
        group = session.process_group
        _ = 1 / 0
    assert group_is_gone(group)


@pytest.mark.parametrize(
    ("code", "kind"), [(1, RunFailed), (2, UsageError), (5, CorruptFile), (77, RunFailed)]
)
def test_an_error_line_becomes_the_error_of_its_exit_code(code: int, kind: type[Exception]) -> None:
    error = f'{{"type":"error","exit":{code},"message":"rank 1 is gone."}}'
    with probe(f"say(header); read(); say({error!r}); read()") as session:
        with pytest.raises(kind, match=r"rank 1 is gone\."):
            session.measure(REQUEST)


def test_an_error_line_instead_of_the_header_is_that_error() -> None:
    error = '{"type":"error","exit":2,"message":"option \'foo\' is unknown."}'
    with pytest.raises(UsageError, match="foo"), probe(f"say({error!r}); sys.exit(2)"):
        pass


def test_a_killed_probe_is_named_with_its_signal_and_its_last_words() -> None:
    script = "say(header); read(); print('low on memory', file=sys.stderr, flush=True); os.kill(os.getpid(), 9)"
    with probe(script) as session:
        with pytest.raises(RunFailed, match=r"killed by SIGKILL.*low on memory"):
            session.measure(REQUEST)


def test_a_probe_that_ends_early_is_named_with_its_exit_code() -> None:
    with probe("say(header); read(); sys.exit(3)") as session:
        with pytest.raises(RunFailed, match="exit code 3"):
            session.measure(REQUEST)


def test_a_silent_probe_ends_in_a_bounded_time() -> None:
    with probe("say(header); time.sleep(100)", margin_seconds=0.2) as session:
        with pytest.raises(RunFailed, match="has not answered within"):
            session.measure(REQUEST)


def test_a_rank_that_waits_in_vain_is_believed_while_rank_0_is_silent() -> None:
    words = "chiplog-probe: rank 3: rank 0 has not answered within 0.5 s"
    with probe(
        f"say(header); read(); print({words!r}, file=sys.stderr, flush=True); read()"
    ) as run:
        with pytest.raises(RunFailed, match=r"^rank 3: rank 0 has not answered within 0\.5 s\.$"):
            run.measure(REQUEST)


@pytest.mark.parametrize("line", ['{"type":"header"}', '{"type":"record","id":8}'])
def test_an_answer_that_is_no_answer_to_the_request_is_refused(line: str) -> None:
    with probe(f"say(header); read(); say({line!r}); read()") as session:
        with pytest.raises(RunFailed, match="probe"):
            session.measure(REQUEST)


@pytest.mark.parametrize("line", ["a greeting", "[1]", '{"torn', ""])
def test_what_a_launcher_prints_between_answers_is_no_answer(line: str) -> None:
    with probe(f"say({line!r}); say(header); read(); say({line!r}); say(record); read()") as run:
        assert run.measure(REQUEST) == RECORD


def test_what_a_launcher_prints_instead_of_an_answer_explains_its_end() -> None:
    words = "say('=' * 70); say('=   BAD TERMINATION'); say('EXIT STRING: Killed (signal 9)')"
    with probe(f"say(header); read(); {words}; sys.exit(9)") as session:
        with pytest.raises(RunFailed, match=r"a rank was killed by SIGKILL .*exit code 9"):
            session.measure(REQUEST)


@pytest.mark.parametrize("at", ["header", "record"])
def test_a_launcher_that_adds_to_the_probes_lines_is_named(at: str) -> None:
    words = f"say(('0: ' if {at!r} == 'header' else '') + header); read(); say('0: ' + record)"
    with pytest.raises(RunFailed, match="--tag-output"), probe(f"{words}; read()") as session:
        session.measure(REQUEST)


def test_a_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(RunFailed, match="/no/such/probe"), Session(["/no/such/probe"]):
        pass


def test_a_lot_on_standard_error_does_not_block_the_probe() -> None:
    script = "say(header); read(); sys.stderr.write('x' * 1000000); sys.stderr.flush(); say(record); read()"
    with probe(script) as session:
        assert session.measure(REQUEST) == RECORD


def test_the_ranks_share_a_secret_that_each_session_makes_anew() -> None:
    script = 'say(\'{"type":"header","secret":"%s"}\' % os.environ[\'CHIPLOG_SECRET\'])\nread()'
    with probe(script) as one, probe(script) as other:
        assert len(one.header["secret"]) == 32
        assert one.header["secret"] != other.header["secret"]


def test_a_signal_in_the_terminal_does_not_reach_the_probe_directly() -> None:
    with probe("say(header); read(); say(record); read()") as session:
        assert os.getpgid(session.process_group) == session.process_group != os.getpgid(0)
        assert os.getsid(session.process_group) == session.process_group
        session.measure(REQUEST)


def test_the_ranks_own_words_come_before_those_of_a_launcher() -> None:
    script = (
        "for line in ('srun: error: n02: task 1: Exited with exit code 1', '1: chiplog-probe: rank 1: lost',\n"
        "             '0: chiplog-probe: no port is free', 'srun: Terminating job step 5.0'):\n"
        "    print(line, file=sys.stderr, flush=True)\n"
        "sys.exit(1)"
    )
    with pytest.raises(RunFailed, match=r"^no port is free \(the probe ended with"), probe(script):
        pass


def test_a_launcher_that_starts_no_rank_is_named() -> None:
    with pytest.raises(RunFailed, match=rf"^the launcher {sys.executable} ended with exit code 3"):
        with probe("sys.exit(3)"):
            pass
    with pytest.raises(RunFailed, match=r"^the probe ended with exit code 3"):
        with probe("say(header); sys.exit(3)") as session:
            session.measure(REQUEST)


def test_of_a_launchers_words_the_first_that_tells_something_counts() -> None:
    script = (
        "for line in ('--------', 'prterun was unable to launch', 'error: see the manual'):\n"
        "    print(line, file=sys.stderr, flush=True)\n"
        "sys.exit(1)"
    )
    with pytest.raises(RunFailed, match="It said: prterun was unable to launch"), probe(script):
        pass


def test_a_stopped_process_is_named_and_is_a_lost_rank_where_a_launcher_numbers_it(
    tmp_path: Path,
) -> None:
    # A launcher that is itself a rank of a batch job, and starts what is called like the probe.
    probe_copy = tmp_path / "chiplog-probe"
    probe_copy.symlink_to(sys.executable)
    say = f"print({HEADER!r}, flush=True)"
    for stops, expected in (
        ("launcher", r"^process \d+ \(python\S*\) is stopped"),
        ("probe", r"^rank 2, process \d+ \(chiplog-probe\), is stopped"),
    ):
        stop = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
        ranks = (
            f"import sys; {say}; sys.stdin.readline(); {stop if stops == 'probe' else 'input()'}"
        )
        start = (
            "import os, subprocess\n"
            f"subprocess.Popen([{str(probe_copy)!r}, '-c', {ranks!r}], env=dict(os.environ, PMI_RANK='2'))\n"
        )
        wait = f"import time; time.sleep(0.2); {stop}" if stops == "launcher" else "os.wait()"
        environment = {"SLURM_PROCID": "0"}
        command = [sys.executable, "-c", start + wait]
        with Session(command, time_limit=0.5, environment=environment) as session:
            with pytest.raises(RunFailed, match=expected) as failure:
                session.measure(REQUEST)
        assert getattr(failure.value, "rank", None) == (2 if stops == "probe" else None)


def test_ranks_that_end_their_run_unasked_were_interrupted() -> None:
    footer = '{"type":"footer","complete":false,"reason":"interrupted"}'
    with probe(f"say(header); read(); say({footer!r})") as session:
        with pytest.raises(RunFailed, match="interrupted from outside"):
            session.measure(REQUEST)


def test_ranks_whose_launcher_has_closed_their_input_are_explained_by_its_words() -> None:
    footer = '{"type":"footer","complete":true,"reason":"done"}'
    words = "print('process rank 1 with PID 7 exited on signal 9', file=sys.stderr, flush=True)"
    with probe(f"say(header); read(); say({footer!r}); {words}; sys.exit(1)") as session:
        with pytest.raises(RunFailed, match="a rank was killed by SIGKILL"):
            session.measure(REQUEST)


def test_a_failed_start_is_explained_and_what_killed_ranks_leave_is_removed(tmp_path: Path) -> None:
    leftover = tmp_path / "meeting"
    leftover.touch()
    session = Session(
        [sys.executable, "-c", "raise SystemExit(1)"],
        explain=lambda sentence: f"{sentence} Try this.",
        leftover=leftover,
    )
    with pytest.raises(RunFailed, match=r"exit code 1 .* Try this\.$"), session:
        pass
    assert not leftover.exists()
