"""The terminal that tables are printed on."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from chiplog.quoting import for_terminal


class Screen(Console):
    """A console on which no text of a file acts: neither its escape sequences nor its square brackets."""

    def render_str(self, text: str, **options: Any) -> Text:
        """The text as it stands."""
        return super().render_str(
            for_terminal(text), **{**options, "markup": False, "emoji": False}
        )
