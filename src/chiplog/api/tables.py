"""Rows that are shown as a table in a notebook, and become a DataFrame where pandas is there."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from chiplog.messages import SCREEN_ROWS, aligned
from chiplog.optional import needed

T = TypeVar("T")


@dataclass(frozen=True)
class Rows(Sequence[Mapping[str, Any]]):
    """A list of rows with the same columns; values are numbers in SI units, words, or None where nothing is known."""

    rows: tuple[Mapping[str, Any], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        return self.rows[at]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return aligned([list(self.columns), *self._texts()])

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.rows[0]) if self.rows else ()

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame; UsageError where pandas is not installed: `rows` need nothing."""
        pandas = needed("pandas", "a DataFrame")
        return pandas.DataFrame([dict(row) for row in self.rows], columns=list(self.columns))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in row)}</tr>"
            for row in self._texts()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _texts(self) -> list[list[str]]:
        """Texts of the rows; of many only the first ones and the last, with a row of dots between them."""
        shown = [[_text(row[name]) for name in self.columns] for row in self.rows]
        if len(shown) <= SCREEN_ROWS:
            return shown
        return [*shown[: SCREEN_ROWS - 2], ["…"] * len(self.columns), shown[-1]]


class Results(tuple[T, ...]):
    """A tuple of results that is shown as a table, and becomes a DataFrame where pandas is there."""

    _row: Callable[[T], Mapping[str, Any]]

    def __new__(cls, results: Iterable[T], row: Callable[[T], Mapping[str, Any]]) -> Self:
        """`row` gives the columns of a result."""
        made = super().__new__(cls, results)
        made._row = row
        return made

    def __reduce__(self) -> Any:
        return Results, (tuple(self), self._row)

    @property
    def rows(self) -> Rows:
        """A row a result."""
        return Rows(tuple(self._row(result) for result in self))

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame; UsageError where pandas is not installed."""
        return self.rows.to_dataframe()

    def __repr__(self) -> str:
        return repr(self.rows)

    def _repr_html_(self) -> str:
        return self.rows._repr_html_()


def columns_of(
    *names: str, of: Callable[[Any], Mapping[str, Any]]
) -> Callable[[Any], Mapping[str, Any]]:
    """A function that gives the named columns of the row that `of` makes of a result."""
    return _Columns(names, of)


@dataclass(frozen=True)
class _Columns:
    names: tuple[str, ...]
    of: Callable[[Any], Mapping[str, Any]]

    def __call__(self, result: object) -> Mapping[str, Any]:
        row = self.of(result)
        return {name: row[name] for name in self.names}


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
