"""Pages stay as short as their kind: a reader finds the answer, and studies hold the evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MAX_WORDS = {
    "decisions": 400,
    "explanation": 900,
    "how-to": 1600,
    "numbers": 1600,
    "tutorials": 1600,
}
"""By folder; pages of docs/reference and docs/studies are as long as they need to be."""
PAGES = sorted(
    page
    for folder in MAX_WORDS
    for page in (DOCS / folder).glob("*.md")
    if page.name != "README.md"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_is_no_longer_than_its_kind_may_be(page: Path) -> None:
    assert len(page.read_text().split()) <= MAX_WORDS[page.parent.name]
