"""The console blocks of the documents: which there are, and what a reader types in them."""

from __future__ import annotations

import math
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
        return [command for command, _ in self.steps()]

    def steps(self) -> list[tuple[str, list[str]]]:
        """Each command with the lines that the page says it prints; "..." stands for others, or for a line's end."""
        lines = self.text.replace("\\\n", " ").splitlines()
        has_prompts = any(line.startswith("$ ") for line in lines)
        steps: list[tuple[str, list[str]]] = []
        for line in lines:
            if has_prompts and not line.startswith("$ "):
                steps[-1][1].append(line)
            elif command := COMMENT.sub("", line.removeprefix("$ ")).strip():
                steps.append((command, []))
        return steps


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


NUMBER = re.compile(r"\d[\d,.]*(?:e[-+]?\d+)?")


def missing_line(shown: list[str], said: str) -> str | None:
    """The first line of a page that a command does not print, in this order; numbers may differ by 3 %."""
    printed = iter(said.splitlines())
    for line in shown:
        if line != "..." and not any(_is_same(line, other) for other in printed):
            return line
    return None


def _is_same(line: str, other: str) -> bool:
    if line.endswith(" ..."):
        line = line.removesuffix(" ...")
        other = other[: len(line)]
    if NUMBER.sub("#", line).split() != NUMBER.sub("#", other).split():
        return False
    pairs = zip(NUMBER.findall(line), NUMBER.findall(other), strict=True)
    return all(
        _close(*(float(text.strip(".,").replace(",", "")) for text in pair)) for pair in pairs
    )


def _close(shown: float, printed: float) -> bool:
    return math.isclose(shown, printed, rel_tol=0.03, abs_tol=1e-9)
