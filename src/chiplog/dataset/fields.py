"""Hand-written checks of JSON members: each names what is missing or wrong by file, line and field."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiplog.dataset.lines import Where
from chiplog.errors import CorruptFile
from chiplog.outside import LARGEST_INTEGER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_KINDS = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    return _KINDS.get(type(value), type(value).__name__)


@dataclass(frozen=True)
class Fields:
    """The members of one JSON object at `where`; `prefix` is its own name in the line, e.g. `series[0].`."""

    members: Mapping[str, object]
    where: Where
    prefix: str = ""

    def wrong(self, name: str, what: str) -> CorruptFile:
        """The error for the member `name`."""
        return self.where.corrupt(self.prefix + name, what)

    def required(self, name: str) -> object:
        """The member `name`, whatever it is."""
        try:
            return self.members[name]
        except KeyError:
            raise self.wrong(name, "is missing") from None

    def text(self, name: str, *, among: Collection[str] | None = None) -> str:
        """A text that is not empty."""
        value = self.required(name)
        if type(value) is not str:
            raise self.wrong(name, f"must be a text, not {kind_of(value)}")
        if not value:
            raise self.wrong(name, "must not be empty")
        if among is not None and value not in among:
            raise self.wrong(name, f"is {value[:40]!r}; known are {', '.join(sorted(among))}")
        return value

    def integer(self, name: str, *, minimum: int = 0, default: int | None = None) -> int:
        """An integer from `minimum` to 2^63 - 1; `default` if it may be left out."""
        if default is not None and name not in self.members:
            return default
        value = self.required(name)
        if type(value) is not int:
            raise self.wrong(name, f"must be an integer, not {kind_of(value)}")
        if not minimum <= value <= LARGEST_INTEGER:
            raise self.wrong(name, f"must be from {minimum} to 2^63 - 1, but is {value}")
        return value

    def integers(self, *names: str) -> list[int]:
        """Integers from 0 to 2^63 - 1, all at once."""
        members = self.members
        values = [members.get(name) for name in names]
        if set(map(type, values)) == {int} and 0 <= min(values) and max(values) <= LARGEST_INTEGER:  # type: ignore[type-var,operator]
            return values  # type: ignore[return-value]
        return [self.integer(name) for name in names]

    def number(self, name: str, *, default: float | None = None) -> float:
        """A finite number that is not negative; `default` if it may be left out."""
        if default is not None and name not in self.members:
            return default
        value = self.required(name)
        if type(value) is not int and type(value) is not float:
            raise self.wrong(name, f"must be a number, not {kind_of(value)}")
        if not 0 <= value <= LARGEST_INTEGER or not math.isfinite(value):
            raise self.wrong(name, f"must be finite and not negative, but is {value}")
        return float(value)

    def real(self, name: str) -> float:
        """A finite number of either sign."""
        value = self.required(name)
        if type(value) is not int and type(value) is not float:
            raise self.wrong(name, f"must be a number, not {kind_of(value)}")
        if not abs(value) <= sys.float_info.max:
            raise self.wrong(name, "must be finite")
        return float(value)

    def real_or_none(self, name: str) -> float | None:
        """A finite number of either sign; None where it is null or left out."""
        return None if self.members.get(name) is None else self.real(name)

    def text_or_none(self, name: str) -> str | None:
        """A text; None where it is null or left out."""
        return None if self.members.get(name) is None else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; an empty one where it is left out."""
        value = self.members.get(name, [])
        if type(value) is not list or not set(map(type, value)) <= {str}:
            raise self.wrong(name, "must be a list of texts")
        return tuple(value)

    def two_texts_or_none(self, name: str) -> tuple[str, str] | None:
        """A list of two texts; None where it is null or left out."""
        if self.members.get(name) is None:
            return None
        texts = self.texts(name)
        if len(texts) != 2:
            raise self.wrong(name, f"must be a list of two texts, not of {len(texts)}")
        return texts[0], texts[1]

    def number_or_none(self, name: str) -> float | None:
        """A finite number that is not negative; None where it is null or left out."""
        return None if self.members.get(name) is None else self.number(name)

    def truth(self, name: str) -> bool:
        """`true` or `false`."""
        value = self.required(name)
        if type(value) is not bool:
            raise self.wrong(name, f"must be true or false, not {kind_of(value)}")
        return value

    def objects(self, name: str) -> list[Fields]:
        """A list of objects."""
        value = self.required(name)
        if type(value) is not list:
            raise self.wrong(name, f"must be a list, not {kind_of(value)}")
        fields = []
        for index, item in enumerate(value):
            if type(item) is not dict:
                raise self.wrong(f"{name}[{index}]", f"must be an object, not {kind_of(item)}")
            fields.append(Fields(item, self.where, f"{self.prefix}{name}[{index}]."))
        return fields

    def child(self, name: str) -> Fields:
        """The members of an object that must be there."""
        value = self.required(name)
        if type(value) is not dict:
            raise self.wrong(name, f"must be an object, not {kind_of(value)}")
        return Fields(value, self.where, f"{self.prefix}{name}.")

    def mapping(self, name: str) -> dict[str, object]:
        """An object; an empty one where it is null or left out."""
        value = self.members.get(name)
        if value is None:
            return {}
        if type(value) is not dict:
            raise self.wrong(name, f"must be an object, not {kind_of(value)}")
        return value

    def counts(self, name: str) -> NDArray[np.int64]:
        """A list of integers, none negative, shape (samples,); an array of them stays as it is."""
        import numpy as np

        value = self.required(name)
        if isinstance(value, np.ndarray):
            return value
        if type(value) is not list:
            raise self.wrong(name, f"must be a list, not {kind_of(value)}")
        if not set(map(type, value)) <= {int}:
            raise self._wrong_count(name, value)
        try:
            counts = np.array(value, dtype=np.int64)
        except OverflowError:
            raise self._wrong_count(name, value) from None
        if counts.size and int(counts.min()) < 0:
            raise self._wrong_count(name, value)
        return counts

    def _wrong_count(self, name: str, values: list[object]) -> CorruptFile:
        for index, value in enumerate(values):
            if type(value) is not int:
                return self.wrong(f"{name}[{index}]", f"must be an integer, not {kind_of(value)}")
            if not 0 <= value <= LARGEST_INTEGER:
                return self.wrong(f"{name}[{index}]", f"must be from 0 to 2^63 - 1, but is {value}")
        return self.wrong(name, "must hold integers")
