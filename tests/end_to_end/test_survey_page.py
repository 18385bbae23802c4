"""The page of a survey in a real browser: who is slow, the matrix that shows where, and a history as lines."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import FAULTS, Opened, load, sync_api
from command import chiplog
from history_by_hand import add_run
from survey_by_hand import NETWORK, simulated_survey, slowed

from chiplog.report.matrix import LABEL_STEP, MISSING, PairMatrix, matrix_svg

WIDTH, FIRST_SCREEN, PHONE = 1280, 900, 390
MOST_PIXELS = 6000
RANKS, SLOW = 16, 3


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_survey(tmp_path_factory.mktemp("survey") / "healthy", RANKS)


@pytest.fixture(scope="module")
def slow_node(healthy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("survey") / "slow"
    return slowed(healthy, out, lambda client, server, _: 1.12 if SLOW in (client, server) else 1.0)


def page_of(survey: Path, folder: Path, *options: object) -> Path:
    page = folder / "survey.html"
    made = chiplog("report", survey, "-o", page, *options)
    assert made.code == 0, made.stderr
    return page


def opened(browser: sync_api.Browser, page: Path, width: int = WIDTH) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": width, "height": FIRST_SCREEN})
    yield load(context, page, unfold=False)
    context.close()


def test_the_slow_node_comes_first_and_is_a_row_and_a_column(
    browser: sync_api.Browser, slow_node: Path, tmp_path: Path
) -> None:
    for shown in opened(browser, page_of(slow_node, tmp_path)):
        page = shown.page
        titles = page.locator("main h2").all_inner_texts()
        assert titles == ["Who is slow", "Every pair", "Classes of links", "What was measured"]
        assert page.locator("#survey-verdict > p").nth(1).inner_text().startswith("node vm#3 slow")
        rows = page.locator("#survey-verdict table.data tbody tr").all_inner_texts()
        assert len(rows) == 2 and all("node vm#3" in one and "slow" in one for one in rows)
        table = page.locator("#survey-verdict table.data").bounding_box()
        assert table is not None and table["y"] + table["height"] < FIRST_SCREEN
        for matrix in page.locator("svg.matrix").all():
            cells = matrix.locator("rect")
            assert cells.count() == RANKS**2
            coloured = matrix.locator("rect[class^=more-] title").all_text_contents()
            assert sum("vm#3" in one.split(":")[0].split() for one in coloured) == 2 * (RANKS - 1)
        assert page.evaluate(FAULTS) == []
        assert page.evaluate("document.documentElement.scrollHeight") <= MOST_PIXELS
        assert shown.said == [] and len(shown.asked) == 1


def test_a_healthy_machine_accuses_nobody_and_fits_a_phone(
    browser: sync_api.Browser, healthy: Path, tmp_path: Path
) -> None:
    for shown in opened(browser, page_of(healthy, tmp_path), PHONE):
        answer = shown.page.locator("#survey-verdict > p").nth(1).inner_text()
        assert answer.startswith("Nobody is slow beyond doubt")
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= PHONE
        assert shown.page.evaluate(FAULTS) == []


def test_leaves_are_classes_and_borders_of_the_matrix(
    browser: sync_api.Browser, healthy: Path, tmp_path: Path
) -> None:
    survey = slowed(
        healthy, tmp_path / "leaves", lambda a, b, _: 1.0 if (a < 8) == (b < 8) else 1.5
    )
    for shown in opened(browser, page_of(survey, tmp_path)):
        parameters = shown.page.locator("#survey-classes table").first.inner_text()
        assert "within a leaf" in parameters and "between leaves" in parameters
        classes = shown.page.locator("#survey-classes table").nth(1)
        names = classes.locator("tbody td:first-child").all_inner_texts()
        assert names == ["within a leaf", "between leaves"]
        assert shown.page.locator("svg.matrix").first.locator("path.border").count() == 1
        legend = shown.page.locator('[data-plot="survey-classes-latency"] .key').all_inner_texts()
        assert [one.strip() for one in legend] == ["within a leaf", "between leaves"]
        assert shown.page.locator("svg.matrix rect[class^=more-]").count() < RANKS


def test_the_history_shows_the_node_that_changed(
    browser: sync_api.Browser, slow_node: Path, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    history = tmp_path / "history"
    values = 0.003 * np.random.default_rng(5).standard_normal((30, 2, RANKS))
    values[25:, :, SLOW] -= 0.1
    names = [f"vm#{number}" for number in range(RANKS)]
    for day, effects in enumerate(values):
        add_run(history, effects, day, names=names, target=NETWORK)
    for shown in opened(browser, page_of(slow_node, tmp_path, "--history", history)):
        first = shown.page.locator("#survey-history tbody tr").first.inner_text()
        assert "vm#3" in first and "changed" in first
        for kind in ("bandwidth", "latency"):
            plot = shown.page.locator(f'[data-plot="survey-history-{kind}"]')
            assert "vm#3" in [one.strip() for one in plot.locator(".key").all_inner_texts()]
        assert shown.page.evaluate(FAULTS) == []


def test_markdown_has_the_same_answer(slow_node: Path, tmp_path: Path) -> None:
    page = tmp_path / "survey.md"
    assert chiplog("report", slow_node, "-o", page).code == 0
    text = page.read_text()
    assert "slow beyond doubt" in text and "node vm" in text.split("slow beyond")[0]


def test_what_does_not_go_together_is_refused(slow_node: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    two = chiplog("report", slow_node, slow_node, "-o", out)
    assert two.code == 2 and "one survey" in two.stderr
    other = tmp_path / "ping.jsonl"
    measured = chiplog("measure", NETWORK, "--pattern", "ping_pong", "--sizes", "1:8", "-o", other)
    assert measured.code == 0
    refused = chiplog("report", other, "-o", out, "--history", tmp_path)
    assert refused.code == 2 and "goes with a survey" in refused.stderr
    nothing = chiplog("report", slow_node, "-o", out, "--history", tmp_path / "none")
    assert nothing.code == 2 and len(nothing.stderr.splitlines()) == 1
    assert not out.exists()


def test_a_matrix_of_1024_nodes_is_small() -> None:
    nodes = 1024
    values = np.random.default_rng(1).standard_normal((nodes, nodes))
    levels = np.where(np.abs(values) > 2, np.sign(values), 0).astype(np.int8)
    levels[7], levels[:, 7] = 3, 3
    np.fill_diagonal(levels, MISSING)
    names = tuple(f"n{number:04d}" for number in range(nodes))
    began = time.process_time()
    drawn = matrix_svg(PairMatrix("all", names, levels, lambda row, column: ""))
    assert len(drawn) < 2_000_000
    assert time.process_time() - began < 20
    assert f"M0 7h{nodes - 1 - (nodes - 8)}v1" in drawn


def test_suspects_among_many_nodes_are_named_beside_their_rows() -> None:
    names = tuple(f"n{number}" for number in range(100))
    levels = np.zeros((100, 100), dtype=np.int8)
    shown = PairMatrix("all", names, levels, lambda row, column: "", marked=(71, 70, 3))
    drawn = matrix_svg(shown)
    named = re.findall(r'<text class="marked" x="[\d.]+" y="([\d.]+)">(n\d+)</text>', drawn)
    assert [name for _, name in named] == ["n3", "n70", "n71"]
    heights = [float(height) for height, _ in named]
    assert min(np.diff(heights)) >= LABEL_STEP - 0.1
