"""Rows that are shown as a table in a notebook, and become a DataFrame where pandas is there."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chiplog.optional import needed


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
        return "\n".join(["  ".join(self.columns), *("  ".join(row) for row in self._texts())])

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
        return [[_text(row[name]) for name in self.columns] for row in self.rows]


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
