"""The page of an application in a real browser: its plots are drawn, and it fits a screen and a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import COVERED, FAULTS, OVERLAPS, load, sync_api
from trace_files import ring

from chiplog.cli import main

BY_HAND = ("--L", "6000", "--o", "1500", "--g", "2000", "--G", "5", "--S", "64")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_drawn_and_no_wider_than_the_screen(
    browser: sync_api.Browser, tmp_path: Path, width: int
) -> None:
    page = tmp_path / "app.html"
    assert main(["app", str(ring(tmp_path / "ring")), *BY_HAND, "--report", str(page)]) == 0
    context = browser.new_context(viewport={"width": width, "height": 900})
    opened = load(context, page)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    for faults in (FAULTS, OVERLAPS, COVERED):
        assert opened.page.evaluate(faults) == []
    assert opened.page.locator("svg.timeline .critical").count() == 1
    assert opened.page.locator("svg.matrix").count() == 1
    assert opened.said == []
    assert opened.asked == [page.as_uri()]
    context.close()
