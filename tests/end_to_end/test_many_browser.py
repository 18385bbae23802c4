"""The pages of many processes in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import FAULTS, OVERLAPS, Opened, load, sync_api
from sample_many import PAIR_SIZES, PAIRS, sample_many_target

from chiplog.jobs.report import report_input
from chiplog.report.write import write_report

MODELS = ("postal", "max-rate", "max-rate-4", "max-rate-modified")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "report.html"
    write_report(report_input([sample_many_target()]), path)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_plots_and_maps_fit_their_window(
    browser: sync_api.Browser, report: Path, width: int, scheme: str
) -> None:
    viewport = {"width": width, "height": 800}
    context = browser.new_context(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
    opened = load(context, report)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.page.evaluate(FAULTS) == []
    assert opened.page.evaluate(OVERLAPS) == []
    assert opened.said == []
    assert opened.asked == [report.as_uri()]
    context.close()


@pytest.fixture
def opened(browser: sync_api.Browser, report: Path) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield load(context, report)
    context.close()


def test_every_cell_of_a_map_says_in_words_what_its_colour_says(opened: Opened) -> None:
    maps = opened.page.locator(".heat-map")
    assert maps.locator("h4").all_text_contents() == ["Measured", *MODELS]
    cells = maps.nth(2).locator("td")
    assert cells.count() == len(PAIRS) * len(PAIR_SIZES)
    assert all(text.strip("+−") for text in cells.all_text_contents())
    assert "within 5 %" in maps.nth(2).locator(".heat-legend").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_words_in_a_map_stand_out_from_their_colour(
    browser: sync_api.Browser, report: Path, scheme: str
) -> None:
    contrast = """() => {
      const parts = (text) => text.match(/[\\d.]+/g).map(Number);
      const lightness = (rgb) => {
        const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const page = parts(getComputedStyle(document.body).backgroundColor);
      return Math.min(...[...document.querySelectorAll(".heat-legend span")].map((element) => {
        const style = getComputedStyle(element), [r, g, b, alpha = 1] = parts(style.backgroundColor);
        const ground = lightness([r, g, b].map((v, i) => v * alpha + page[i] * (1 - alpha)));
        const ink = lightness(parts(style.color).slice(0, 3));
        return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
      }));
    }"""
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    assert load(context, report).page.evaluate(contrast) >= 4.5
    context.close()


def test_the_axes_over_peers_and_pairs_have_whole_numbers_once_each(opened: Opened) -> None:
    for name in ("mpi-1-round-trip-8", f"mpi-1-pairs-{PAIR_SIZES[-1]}"):
        texts = opened.page.locator(f'[data-plot="{name}"] .ticks text').all_text_contents()
        counts = [text for text in texts if text.isdigit()]
        assert len(counts) >= 3
        assert len(counts) == len(set(counts))
