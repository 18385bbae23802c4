"""From the README, one link leads to the page that leads to everything; answers take three commands at most."""

from __future__ import annotations

import re

import pytest
from console_blocks import ROOT, blocks_of

START = ROOT / "docs" / "i-have-i-want.md"
ANSWERS = ROOT / "docs" / "tutorials" / "three-answers.md"
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)]+)\)")
MOST_COMMANDS = 3


def titles(text: str) -> list[str]:
    return re.findall(r"^## (.*)$", text, flags=re.MULTILINE)


def test_the_first_link_of_the_readme_is_the_start_page() -> None:
    assert LINK.findall((ROOT / "README.md").read_text())[0] == "docs/i-have-i-want.md"


def test_each_row_of_the_start_page_leads_to_its_part() -> None:
    text = START.read_text()
    rows = re.findall(r"^\| \[[^\]]*\]\(#([^)]*)\).*\| `chiplog .*` \|$", text, flags=re.MULTILINE)
    assert rows == [title.lower().replace(" ", "-") for title in titles(text)]
    assert len(rows) >= 8


def test_each_part_of_the_start_page_shows_one_command_and_its_answer() -> None:
    for title, part in zip(
        titles(START.read_text()),
        re.split(r"^## .*$", START.read_text(), flags=re.MULTILINE)[1:],
        strict=True,
    ):
        assert re.search(r"^(\$ )?chiplog ", part, flags=re.MULTILINE), title
        assert LINK.search(part), title


@pytest.mark.parametrize("title", ["My machine", "My collective operation", "My cluster"])
def test_an_answer_takes_three_commands_at_most(title: str) -> None:
    text = ANSWERS.read_text()
    setup, *blocks = blocks_of(ANSWERS)
    commands = list(setup.commands())
    for block in blocks:
        heading = text[: text.index(block.text)].rpartition("\n## ")[2].partition("\n")[0]
        is_before = title == "My collective operation" and heading == "My machine"
        if heading == title or is_before:
            commands += block.commands()
    assert 2 <= len(commands) <= MOST_COMMANDS
