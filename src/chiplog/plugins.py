"""How models, importers, exporters and tuning writers are found: by lists of names, and by entry points.

Each kind of plug-in has one `Registry`. A built-in one is a file in the registry's folder and its name in the list; a
plug-in of another package is an entry point of the registry's group, which has the plug-in's name.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from chiplog.errors import BrokenPlugin, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Named(Protocol):
    """What every plug-in has."""

    @property
    def name(self) -> str:
        """The name on the command line, in lists and in files."""


P = TypeVar("P", bound=Named)


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown name: the known one that is nearest, if one is near.

    >>> did_you_mean("logpg", ["loggp", "max-rate"])
    " Did you mean 'loggp'?"
    >>> did_you_mean("ping-pong", ["prtt", "ping_pong"])
    " Did you mean 'ping_pong'?"
    """
    folded = {_folded(each): each for each in known}
    near = get_close_matches(_folded(name), folded, n=1)
    return f" Did you mean '{folded[near[0]]}'?" if near else ""


def _folded(name: str) -> str:
    """A name without what people type otherwise: capitals, and what joins words."""
    return name.casefold().removeprefix("mpi_").replace("_", "-")


class Registry(Generic[P]):
    """The plug-ins of one kind, by name. Nothing is imported before it is asked for."""

    def __init__(
        self,
        noun: str,
        kind: str,
        *,
        folder: str,
        built_in: Sequence[str],
        unknown: str = "{noun} '{name}' is unknown; known are {known}.",
    ) -> None:
        """Plug-ins that are instances of the class `kind`, a reference "package.module:class".

        `built_in` are the names of those in the package `folder`, in the order of all lists. Each is a constant in the
        module of its name: `MAX_RATE` in `max_rate` is max-rate. `unknown` is the sentence for a name that nothing has.
        Other packages offer theirs as entry points of the group `chiplog.` and the plural of `noun`.
        """
        self.noun = noun
        self.group = f"chiplog.{noun.replace(' ', '_')}s"
        self.built_in = tuple(built_in)
        self._kind = kind
        self._folder = folder
        self._unknown = unknown
        self._loaded: dict[str, P] = {}
        self._broken: set[str] = set()
        self._outside: dict[str, list[EntryPoint]] | None = None

    def names(self) -> tuple[str, ...]:
        """The names of all plug-ins, the built-in ones first; nothing is imported."""
        return (*self.built_in, *self._from_outside())

    def load(self, name: str) -> P:
        """The plug-in of that name.

        Raises UsageError, with the known names, for an unknown one, and for one of another package that can't be
        loaded, with the name of the package.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def find(self, name: str) -> P | None:
        """As `load`, but None for a name that nothing has, and, with a warning as in `all`, for one that is broken."""
        return self._load_or_warn(name) if name in self.names() else None

    def all(self) -> tuple[P, ...]:
        """All plug-ins in the order of `names`.

        Warns with BrokenPlugin, once a process, about each of another package that can't be loaded, and leaves it out.
        """
        found = (self._load_or_warn(name) for name in self.names())
        return tuple(one for one in found if one is not None)

    def _load_or_warn(self, name: str) -> P | None:
        if name in self.built_in:
            return self.load(name)
        if name in self._broken:
            return None
        try:
            return self.load(name)
        except UsageError as error:
            self._broken.add(name)
            warnings.warn(f"{error} It is left out.", BrokenPlugin, stacklevel=2)
            return None

    def _from_outside(self) -> dict[str, list[EntryPoint]]:
        if self._outside is None:
            from importlib.metadata import entry_points  # slow to import

            found: dict[str, list[EntryPoint]] = {}
            for point in entry_points(group=self.group):
                if point.name not in self.built_in:
                    found.setdefault(point.name, []).append(point)
            self._outside = found
        return self._outside

    def _load(self, name: str) -> P:
        if name in self.built_in:
            module = name.replace("-", "_")
            built_in: P = getattr(import_module(f"{self._folder}.{module}"), module.upper())
            return built_in
        points = self._from_outside().get(name)
        if points is None:
            known = ", ".join(self.names())
            sentence = self._unknown.format(noun=self.noun.capitalize(), name=name, known=known)
            raise UsageError(sentence + did_you_mean(name, self.names()))
        subject = f"{self.noun.capitalize()} '{name}' of {' and '.join(map(_package, points))}"
        if len(points) > 1:
            raise UsageError(f"{subject}: uninstall all of these packages but one.")
        return self._from(points[0], subject)

    def _from(self, point: EntryPoint, subject: str) -> P:
        try:
            found = point.load()
        except Exception as error:  # another package's code may raise anything
            raise UsageError(f"{subject} can't be loaded from {point.value}: {error}.") from error
        kind: type[P] = load_reference(self._kind)
        if not isinstance(found, kind):
            raise UsageError(
                f"{subject}: {point.value} lacks what {self._kind.replace(':', '.')} asks for; see that class."
            )
        if found.name != point.name:
            raise UsageError(f"{subject}: {point.value} calls itself '{found.name}'.")
        return found


def _package(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else f"package {point.dist.name}"


def load_reference(reference: str) -> Any:
    """What "package.module:attribute" stands for; UsageError where that can't be imported."""
    module, _, attribute = reference.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"'{reference}', which a plug-in refers to, can't be loaded: {error}."
        ) from error
