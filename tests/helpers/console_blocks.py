"""The console blocks of the documents: which there are, and what a reader types in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n\n)?```console\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMENT = re.compile(r"(?:^|\s+)#\s.*$")


@dataclass(frozen=True)
class Block:
    """One block; `reason` says why it can't be run here."""

    page: Path
    line: int
    text: str
    reason: str | None

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def commands(self) -> list[str]:
        """What is typed, without comments: lines after a prompt where there are any, else all."""
        lines = self.text.replace("\\\n", " ").splitlines()
        typed = [line[2:] for line in lines if line.startswith("$ ")] or lines
        return [command for command in (COMMENT.sub("", line).strip() for line in typed) if command]


def pages() -> list[Path]:
    """The README, tutorials, how-tos, explanations and references."""
    return [
        ROOT / "README.md",
        *sorted(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts),
    ]


def blocks_of(page: Path) -> list[Block]:
    """In the order of the page."""
    text = page.read_text()
    return [
        Block(page, text.count("\n", 0, found.start("text")), found["text"], found["reason"])
        for found in BLOCK.finditer(text)
    ]


def chiplog_calls(block: Block) -> Iterator[list[str]]:
    """The words after `chiplog` of each command that begins with it."""
    for command in block.commands():
        words = shlex.split(command)
        if words[:1] == ["chiplog"]:
            yield words[1:]
