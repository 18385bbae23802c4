"""The command line. Each command is a thin shell over one Python function with the same arguments."""

from __future__ import annotations

import atexit
import errno
import io
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

from chiplog import __version__
from chiplog.errors import BrokenPlugin, ChiplogError, NotLocked
from chiplog.messages import note, note_screen

INTERRUPTED = 130
"""Given: the exit code that shells give what SIGINT ends."""
GROWING = ("measure", "survey", "run")
"""Commands whose files grow while they run, and that go on with them."""
COMPLETION = "_CHIPLOG_COMPLETE"
"""What a shell sets that asks how a line goes on."""


def run_and_exit() -> NoReturn:
    """The process: runs the command of its arguments, clears away what it has made for itself, and ends at once.

    Taking apart all that was loaded would take a tenth of a second, and many times that on a busy machine.
    """
    _open_streams()
    _end_as_if_interrupted()
    code = main()
    atexit._run_exitfuncs()  # os._exit leaves them out
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:  # who reads is gone, or the disk is full
        if not code and not isinstance(error, BrokenPipeError):
            _fail(_os_sentence(error), 1)
        code = code or 1
    os._exit(code)


def _end_as_if_interrupted() -> None:
    """Clears away what was made on the first SIGTERM and SIGHUP, too; the second one ends the process at once.

    Batch systems and `timeout` send the first, and a terminal that is closed the other, which `nohup` ignores.
    """

    def interrupt(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupt)


def _open_streams() -> None:
    """Gives a process that was started without standard streams some, and lets the output hold any letter.

    What would be written to a closed standard output is then an error, as it is on a full disk; no file that is opened
    later takes its number. An encoding without a letter, such as ASCII's, shows ? instead.
    """
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, flags), True)  # it takes the lowest free number
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="replace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; an error is one sentence on standard error.

    CHIPLOG_DEBUG=1 in the environment shows the traceback, too.
    """
    # Matrices are small here: further threads would only spin, beside what is being measured too.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:
        print(f"chiplog {__version__}")
        return 0
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    with warnings.catch_warnings():
        _show_own_warnings_in_one_line()
        return _run(words) if os.environ.get("CHIPLOG_DEBUG") else _run_to_a_sentence(words)


def _show_own_warnings_in_one_line() -> None:
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **rest: Any) -> None:
        if issubclass(category, BrokenPlugin | NotLocked):
            note(str(message))
        else:
            others(message, category, *place, **rest)

    warnings.showwarning = show


def _run_to_a_sentence(words: Sequence[str]) -> int:
    try:
        return _run(words)
    except ChiplogError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        kept = "; what was finished is kept" if words[:1] and words[0] in GROWING else ""
        return _fail(f"interrupted{kept}.", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        return _fail("this machine has not enough memory for that.", 1)
    except ImportError as error:
        return _fail(_library_sentence(error), 1)
    except OSError as error:
        return _fail(_os_sentence(error), 1)


def _library_sentence(error: ImportError) -> str:
    """Which library can't be loaded; NumPy says that in the last line of many."""
    said = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    reason = said[-1].removeprefix("Original error was: ").strip().rstrip(".")
    return (
        f"a library that is needed can't be loaded: {reason}. There is too little memory for it (see ulimit -v), or "
        "the installation is damaged."
    )


def _os_sentence(error: OSError) -> str:
    """What the system says, and of which file; one that names none is of a standard output that is full or closed."""
    is_output = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EBADF)
    place = error.filename or ("standard output can't be written" if is_output else "")
    return f"{place}{': ' if place else ''}{error.strerror or error}."


def _run(words: Sequence[str]) -> int:
    if COMPLETION in os.environ:
        from chiplog.cli.completion import answer_shell

        return answer_shell()
    from click.exceptions import Exit
    from click.exceptions import UsageError as WrongUsage

    from chiplog.cli.app import app_for, with_numbers

    try:
        with app_for(words).make_context("chiplog", with_numbers(words)) as context:
            context.command.invoke(context)
    except Exit as finished:
        return finished.exit_code
    except WrongUsage as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            note_screen(error.format_message())
            return error.exit_code
        from chiplog.cli.wrong_usage import usage_sentence

        return _fail(usage_sentence(error), 2)
    return 0


def _fail(sentence: str, exit_code: int) -> int:
    note(sentence)
    return exit_code
