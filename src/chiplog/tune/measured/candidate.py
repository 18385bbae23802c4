"""What races: the MPI's default, and its algorithms, each forced by control variables."""

from __future__ import annotations

from dataclasses import dataclass, field

from chiplog.tune.choice import Native

DEFAULT_NAME = "default"


@dataclass(frozen=True)
class Candidate:
    """One algorithm of the MPI with its segment size, and the control variables that force it."""

    name: str
    settings: tuple[tuple[str, int], ...] = ()
    native: Native | None = None
    """How a tuning file names it; None for the default."""
    our_name: str | None = None
    """The algorithm by chiplog's name, by which a model may predict it."""
    least_bytes: int = 0
    """Below this size it does the same as another candidate."""

    def fits(self, message_bytes: int) -> bool:
        """Does it race at this size?"""
        return message_bytes >= self.least_bytes

    @property
    def text(self) -> str:
        """The name with the control variables."""
        return f"{self.name}:" + ",".join(f"{name}={value}" for name, value in self.settings)

    @property
    def arguments(self) -> tuple[str, ...]:
        """By which the program that races them gets to know it."""
        return "--variant", self.text


DEFAULT = Candidate(DEFAULT_NAME)


@dataclass(frozen=True)
class Field:
    """All candidates of one operation, and what their launches need in the environment."""

    candidates: tuple[Candidate, ...]
    environment: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Algorithms of the MPI that no tuning file can choose, with the reason."""
    options: tuple[str, ...] = ()
    """What they need as options of the program that races them."""
