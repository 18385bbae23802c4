"""A running probe: requests go in, records come out, and whatever goes wrong ends in one clear error."""

from __future__ import annotations

import math
import os
import re
import secrets
import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from chiplog.dataset.lines import MAX_LINE_BYTES
from chiplog.errors import ChiplogError, CorruptFile, RankLost, RunFailed, UsageError
from chiplog.measurement.first_words import first_words
from chiplog.measurement.meeting import SECRET_BYTES, SECRET_VARIABLE
from chiplog.measurement.process import PROBE_NAME, ProcessGroup
from chiplog.measurement.refusals import in_options
from chiplog.measurement.start_again import CRASHES, NoStart, signal_of, signal_of_rank
from chiplog.outside import as_json
from chiplog.plan.request import Request

STDERR_KEPT_BYTES = 16 << 10
NOT_OURS_BYTES = 1 << 16
MARGIN_SECONDS = 20.0
"""Given: how much longer than its budget and the time limit a request may take before the probe counts as stuck.

The probe itself says earlier which rank has not answered within the time limit."""
START_SECONDS, END_SECONDS = 60.0, 10.0
"""Given: how long the ranks may take to start, and to end."""
LOOK_SECONDS = 0.25
"""Given: how often a silent run is looked after: whether its leader has ended, or a process of it is stopped."""
LAST_WORDS_SECONDS = 0.05
"""Given: how long after its end a probe's words may take to arrive."""
HEARD_SECONDS = 0.5
"""Given: how long after a time limit the ranks' words may take to arrive, and after those words the end of all
ranks."""


class Session:
    """The probe of one launch, as a context manager; leaving it ends every process that it started.

    `command` starts the probe, alone or under a launcher. The ranks recognise each other by a secret in the
    environment. `meanwhile` is called once, while the probe starts. `explain` adds what a failure to start may mean to
    its sentence. `leftover` is a file that killed ranks leave behind; it is removed at the end. All waits are bounded;
    a probe that is silent for longer is ended and reported, and so is one while any of its processes on this host,
    the launcher's too, has been stopped for `time_limit` seconds.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        start_seconds: float = START_SECONDS,
        margin_seconds: float = MARGIN_SECONDS,
        time_limit: float = math.inf,
        meanwhile: Callable[[], object] | None = None,
        explain: Callable[[str], str] | None = None,
        leftover: Path | None = None,
    ) -> None:
        self._command = list(command)
        self._environment = {**os.environ, **(environment or {})}
        self._environment.setdefault(SECRET_VARIABLE, secrets.token_hex(SECRET_BYTES))
        self._start_seconds = start_seconds
        self._margin_seconds = margin_seconds
        self._time_limit = time_limit
        self._end_seconds = min(END_SECONDS, time_limit)
        self._meanwhile = meanwhile
        self._explain = explain
        self._leftover = leftover
        self._stdout = b""
        self._stderr = b""
        self._not_ours = b""
        """What else came on standard output: launchers and shells greet and complain there."""
        self._group: ProcessGroup | None = None
        self._selector = selectors.DefaultSelector()
        self._is_over = False
        self._is_silenced = False
        """Whether standard output has ended."""
        self._unanswered_since = 0.0
        """When the first rank said that another has not answered; 0 until then."""
        self.header: dict[str, Any] = {}

    def __enter__(self) -> Session:
        try:
            self._group = ProcessGroup(self._command, self._environment)
        except OSError as error:
            raise RunFailed(f"{self._command[0]} can't be started: {error.strerror}.") from error
        try:
            self._watch(self._group)
            if self._meanwhile is not None:
                self._meanwhile()
            _, self.header = self._answer("header", self._start_seconds)
        except BaseException as error:
            self._end(self._group)
            if self._explain is not None and isinstance(error, ChiplogError):
                raise type(error)(self._explain(str(error))) from error
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._group is None:
            return
        try:
            if kind is None and not self._is_over:
                self._quit(self._group)
        finally:
            self._end(self._group)

    @property
    def process_group(self) -> int:
        """The id of the process group that holds the probe and whatever started it."""
        if self._group is None:
            raise RuntimeError("the session has not begun")
        return self._group.process.pid

    def measure(self, request: Request, *, margin_seconds: float | None = None) -> str:
        """The record line that answers `request`.

        `margin_seconds` is how much longer than its budget it may take, by default the session's.
        Raises UsageError where the probe can't serve the request (it goes on running), RunFailed where a peer is
        lost, time runs out or the probe ends, and CorruptFile where a payload arrived damaged.
        """
        self._send(request.line())
        margin = self._margin_seconds if margin_seconds is None else margin_seconds
        seconds = request.stop.budget_ns * 1e-9 + margin
        line, record = self._answer("record", seconds)
        if record.get("id") != request.id:
            raise RunFailed(
                f"the probe answered request {record.get('id')} instead of {request.id}."
            )
        return line

    def _end(self, group: ProcessGroup) -> None:
        self._selector.close()
        group.end()
        if self._leftover is not None:
            self._leftover.unlink(missing_ok=True)

    def _watch(self, group: ProcessGroup) -> None:
        for stream in (group.process.stdout, group.process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(
                stream.fileno(), selectors.EVENT_READ, stream is group.process.stdout
            )

    def _send(self, line: str) -> None:
        assert self._group is not None and self._group.process.stdin is not None
        try:
            self._group.process.stdin.write(line.encode())
        except BrokenPipeError:
            pass  # the probe has ended: its last words and exit code say why
        except OSError as error:
            raise RunFailed(
                f"the probe takes no requests: {error.strerror}; run the command again."
            ) from error

    def _answer(self, wanted: str, seconds: float) -> tuple[str, dict[str, Any]]:
        """The next line of type `wanted`, whole and parsed; an error line becomes its exception."""
        deadline = time.monotonic() + seconds
        try:
            line, answer = self._object(deadline, seconds)
        except ChiplogError:
            self._is_over = True
            raise
        if answer.get("type") == "footer":
            raise self._ended_from_outside(answer)
        if answer.get("type") == "error":
            raise _error(answer)
        if answer.get("type") != wanted:
            raise RunFailed(f"the probe should have written a {wanted} and wrote {line[:80]!r}.")
        return line, answer

    def _object(self, deadline: float, seconds: float) -> tuple[str, dict[str, Any]]:
        """The next line that is a JSON object, and that object; launchers and shells print to standard output, too."""
        while True:
            line = self._line(deadline, seconds)
            answer = as_json(line)
            if isinstance(answer, dict):
                return line, answer
            if _CHANGED.search(line):
                raise RunFailed(
                    f"what the probe wrote arrived as {line[:80]!r}: start it without what adds to its lines, as "
                    "mpirun --tag-output and srun --label do."
                )
            self._not_ours = (self._not_ours + line.encode() + b"\n")[-NOT_OURS_BYTES:]

    def _line(self, deadline: float, seconds: float) -> str:
        while b"\n" not in self._stdout:
            if len(self._stdout) > MAX_LINE_BYTES:
                raise RunFailed(f"the probe wrote a line of more than {MAX_LINE_BYTES} bytes.")
            has_read = self._read(min(LOOK_SECONDS, deadline - time.monotonic()))
            if self._is_silenced or not has_read:
                self._look(deadline, seconds)
        line, self._stdout = self._stdout.split(b"\n", 1)
        return line.decode("utf-8", errors="replace")

    def _look(self, deadline: float, seconds: float) -> None:
        """Raise where there is no reason to wait any longer for a probe that says nothing."""
        assert self._group is not None
        if self._is_silenced or self._group.wait(0.0) is not None:
            raise self._ended()
        # Ranks that wait for a stopped rank name it when the time limit is over.
        now = time.monotonic()
        if words := _UNANSWERED.search(self._stderr.decode(errors="replace")):
            self._unanswered_since = self._unanswered_since or now
            if now - self._unanswered_since >= HEARD_SECONDS:
                raise RunFailed(f"{words[1]}.")
        if stopped := self._group.stopped(self._time_limit + HEARD_SECONDS, deadline - seconds):
            sentence = (
                f"{stopped} is stopped and has not gone on within {self._time_limit:g} s: something suspends it, "
                "as kill -STOP, a debugger or a batch system do; let it run, or allow more with --time-limit."
            )
            raise RunFailed(sentence) if stopped.rank is None else RankLost(sentence, stopped.rank)
        if time.monotonic() >= deadline:
            raise RunFailed(f"the probe has not answered within {seconds:.0f} s.{self._said()}")

    def _read(self, seconds: float) -> bool:
        """Wait for output and take it in; False where none has come, nor an end."""
        for key, _ in self._selector.select(max(0.0, seconds)):
            is_stdout = bool(key.data)
            piece = os.read(key.fd, 1 << 20)
            if is_stdout:
                self._stdout += piece
            else:
                self._stderr = (self._stderr + piece)[-STDERR_KEPT_BYTES:]
            if not piece:
                self._selector.unregister(key.fd)
                self._is_silenced = self._is_silenced or is_stdout
            return True
        return False

    def _quit(self, group: ProcessGroup) -> None:
        self._send('{"type":"quit"}\n')
        deadline = time.monotonic() + self._end_seconds
        while not self._is_silenced and self._read(deadline - time.monotonic()):
            pass
        if group.wait(max(0.1, deadline - time.monotonic())) not in (0, None):
            raise self._ended()

    def _ended_from_outside(self, footer: Mapping[str, Any]) -> ChiplogError:
        """What to say of a probe that ends its run before it is asked to, as signals make it do."""
        self._is_over = True
        reason = footer.get("reason") or "they do not say why"
        if footer.get(
            "complete"
        ):  # a launcher closes their input, for instance where another rank has died
            return self._ended()
        if reason == "interrupted":
            reason = "they were interrupted from outside, as by scancel or a time limit"
        return RunFailed(
            f"the ranks ended before the run was done: {reason}. What was measured is kept."
        )

    def _ended(self) -> ChiplogError:
        """What to say of a probe that closed its output: its own words first, where it has said any."""
        assert self._group is not None
        code = self._group.wait(self._end_seconds)
        while self._read(LAST_WORDS_SECONDS):
            pass
        killed = signal_of(code)
        kinds = {2: UsageError, 5: CorruptFile}
        kind = RunFailed if killed else kinds.get(code or 0, RunFailed)
        end = (
            f"was killed by {killed}"
            if killed
            else f"ended {f'with exit code {code}' if code is not None else 'its output'} before it had answered"
        )
        own_words = self._own_words()
        if own_words and kind is UsageError:
            return UsageError(in_options(own_words))
        if own_words:
            return kind(f"{own_words} (the probe {end}).")
        if not killed and (name := signal_of_rank(self._all_words())):
            return self._silent_end(name)(f"a rank was killed by {name} (its launcher {end}).")
        kind = self._silent_end(killed) if killed else kind
        return kind(f"{self._started} {end}.{self._said()}")

    @property
    def _started(self) -> str:
        """What was started: until ranks have answered it may be a launcher that starts none."""
        launcher = self._command[0]
        is_launcher = not self.header and os.path.basename(launcher) != PROBE_NAME
        return f"the launcher {launcher}" if is_launcher else "the probe"

    def _silent_end(self, signal_name: str) -> type[RunFailed]:
        """The kind of an end by a signal without a word of the ranks: a crash before the first may not come again."""
        return NoStart if signal_name in CRASHES and not self.header else RunFailed

    def _own_words(self) -> str:
        """What the ranks themselves said on standard error: rank 0's first sentence, else the first of another one."""
        words_of_ranks = _OWN_WORDS.findall(self._stderr.decode(errors="replace"))
        of_rank_0 = [words for rank, words in words_of_ranks if not rank]
        of_others = [f"{rank}{words}" for rank, words in words_of_ranks if rank]
        return (of_rank_0 or of_others or [""])[0].strip().rstrip(".")

    def _said(self) -> str:
        """What explains the end: the ranks' own words, else the first of a launcher's that do."""
        words = self._own_words() or first_words(self._all_words())
        return f" It said: {words}." if words else ""

    def _all_words(self) -> str:
        return (self._stderr + b"\n" + self._not_ours).decode(errors="replace")


_CHANGED = re.compile(r'.\{"type":"')
_UNANSWERED = re.compile(r"chiplog-probe: (rank \d+: rank \d+ has not answered within \S+ s)")
_OWN_WORDS = re.compile(r"chiplog-probe: (rank \d+: )?(.+)")


Launch = Callable[[int], AbstractContextManager[Session]]
"""Starts the probe for the launch of that number."""


def _error(answer: Mapping[str, Any]) -> ChiplogError:
    sentence = in_options(str(answer.get("message", "the probe failed.")))
    rank = answer.get("rank")
    if answer.get("exit") == RunFailed.exit_code and isinstance(rank, int):
        return RankLost(sentence, rank)
    kinds: dict[object, type[ChiplogError]] = {2: UsageError, 5: CorruptFile}
    return kinds.get(answer.get("exit"), RunFailed)(sentence)
