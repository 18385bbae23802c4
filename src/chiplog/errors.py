"""What can end a command, and the exit code it ends with; and the warnings that a command goes on after."""

from __future__ import annotations


class ChiplogError(Exception):
    """One clear sentence that says what happened and what to do; `exit_code` is the process's."""

    exit_code = 1


class RunFailed(ChiplogError):
    """The run failed: a peer was lost, a time limit passed, a disk is full."""

    exit_code = 1


class RankLost(RunFailed):
    """A rank was lost, or fell silent."""

    def __init__(self, sentence: str, rank: int) -> None:
        super().__init__(sentence)
        self.rank = rank


class UsageError(ChiplogError):
    """An option or an argument can't be met; the sentence names it and what it accepts."""

    exit_code = 2  # Given


class ThresholdHit(ChiplogError):
    """A `--fail-on` threshold was hit."""

    exit_code = 3  # Given


class PrecisionNotMet(ChiplogError):
    """The run finished, but the asked precision was not met (`--strict`), or `--fail-on` can't be judged."""

    exit_code = 4  # Given


class CorruptFile(ChiplogError):
    """A file or a payload is not what was written; the sentence names file, line and field."""

    exit_code = 5  # Given


class BrokenPlugin(UserWarning):
    """A plug-in of another package can't be loaded, so it is left out; the sentence names it and its package."""


class NotLocked(UserWarning):
    """A file's system has no locks, so nothing keeps a second process from writing it; the sentence names the file."""
