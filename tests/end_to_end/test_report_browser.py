"""The page in a real browser: it draws all its plots, says nothing on the console, and asks the network for nothing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import COVERED, FAULTS, OVERLAPS, Opened, load, sync_api
from needs import missing
from sample_report import sample_report

from chiplog.report.write import write_report

PLOTS_PER_TARGET, PLOTS_OF_ALL = 8, 2


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(sample_report(samples=10), path)
    return path


@pytest.fixture
def opened(browser: sync_api.Browser, report: Path) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield load(context, report)
    context.close()


def plot(opened: Opened, name: str = "mpi-3-time") -> sync_api.Locator:
    return opened.page.locator(f'[data-plot="{name}"]')


def move_to(opened: Opened, canvas: sync_api.Locator, x: float, y: float = 0.5) -> None:
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    opened.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_every_plot_is_drawn_within_its_frame(opened: Opened) -> None:
    assert opened.page.locator(".plot").count() == 3 * PLOTS_PER_TARGET + PLOTS_OF_ALL
    assert opened.page.evaluate(FAULTS) == []


def test_the_console_is_silent_and_only_the_file_is_asked_for(opened: Opened, report: Path) -> None:
    opened.page.mouse.wheel(0, 20_000)
    opened.page.wait_for_timeout(100)
    assert opened.said == []
    assert opened.asked == [report.as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 820, 1600])
def test_the_page_fits_its_window(
    browser: sync_api.Browser, report: Path, width: int, scheme: str
) -> None:
    viewport = {"width": width, "height": 800}
    context = browser.new_context(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
    opened = load(context, report)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.page.evaluate(FAULTS) == []
    assert opened.page.evaluate(OVERLAPS) == []
    assert opened.page.evaluate(COVERED) == []
    assert opened.page.locator(".mark text").count() > 0
    assert opened.said == []
    context.close()


def test_text_stands_out_from_the_page_in_both_themes(
    browser: sync_api.Browser, report: Path
) -> None:
    contrast = """() => {
      const lightness = (text) => {
        const [r, g, b] = text.match(/[\\d.]+/g).map((v) => v / 255)
          .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const page = lightness(getComputedStyle(document.body).backgroundColor);
      const low = [];
      for (const element of document.querySelectorAll("p, td, th, dt, dd, li, a, .tool, .bad, .ticks text")) {
        const style = getComputedStyle(element);
        const ink = lightness(element instanceof SVGElement ? style.fill : style.color);
        const ratio = (Math.max(ink, page) + 0.05) / (Math.min(ink, page) + 0.05);
        if (ratio < 4.5 && !element.disabled) low.push(`${element.tagName}.${element.className} ${ratio}`);
      }
      return [...new Set(low)];
    }"""
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
        assert load(context, report).page.evaluate(contrast) == []
        context.close()


def test_pointing_at_a_size_shows_exact_values(opened: Opened) -> None:
    target = plot(opened)
    move_to(opened, target.locator(".plot-canvas"), 0.07)
    tip = target.locator(".plot-tip")
    assert tip.is_visible()
    text = tip.inner_text()
    assert text.startswith("1 B")
    assert "measured" in text
    assert "95 % interval" in text
    assert "LogGP" in text
    assert "%" in text
    opened.page.mouse.move(1, 1)
    assert not tip.is_visible()


def test_a_tap_shows_values_until_the_next_one_elsewhere(
    browser: sync_api.Browser, report: Path
) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True
    )
    opened = load(context, report)
    target = plot(opened)
    target.locator(".plot-canvas").tap()
    tip = target.locator(".plot-tip")
    tip.wait_for(state="visible")
    box = tip.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    plot(opened, "mpi-3-residuals").locator(".plot-canvas").tap()
    tip.wait_for(state="hidden")
    context.close()


def test_dragging_zooms_and_reset_shows_all_again(opened: Opened) -> None:
    target = plot(opened)
    canvas = target.locator(".plot-canvas")
    before = canvas.inner_html()
    reset = target.get_by_role("button", name="Reset zoom")
    assert reset.is_disabled()
    move_to(opened, canvas, 0.3, 0.2)
    opened.page.mouse.down()
    move_to(opened, canvas, 0.6, 0.9)
    opened.page.mouse.up()
    assert reset.is_enabled()
    assert opened.page.evaluate(FAULTS) == []
    zoomed = [t for t in canvas.locator(".ticks text").all_text_contents() if t.endswith("B")]
    assert "1 B" not in zoomed
    assert "1 MiB" not in zoomed
    reset.click()
    opened.page.mouse.move(1, 1)
    assert canvas.inner_html() == before


def test_a_click_without_a_drag_does_not_zoom(opened: Opened) -> None:
    target = plot(opened)
    target.locator(".plot-canvas").click()
    assert target.get_by_role("button", name="Reset zoom").is_disabled()


@pytest.mark.parametrize(
    ("axis", "first", "second"), [("x", "log", "linear"), ("y", "log", "linear")]
)
def test_an_axis_can_be_logarithmic_or_linear(
    opened: Opened, axis: str, first: str, second: str
) -> None:
    target = plot(opened)
    canvas = target.locator(".plot-canvas")
    before = canvas.inner_html()
    target.get_by_role("button", name=f"{axis}: {first}").click()
    assert canvas.inner_html() != before
    assert opened.page.evaluate(FAULTS) == []
    target.get_by_role("button", name=f"{axis}: {second}").click()
    assert canvas.inner_html() == before


def test_the_legend_hides_and_shows_a_series(opened: Opened) -> None:
    target = plot(opened)
    key = target.get_by_role("button", name="Hockney", exact=True)
    line = target.locator('.trace[data-name="Hockney"]')
    assert key.get_attribute("aria-pressed") == "true"
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    assert line.count() == 0
    key.click()
    assert line.count() == 1
    other = target.get_by_role("button", name="LogGP (Bell)")
    assert other.get_attribute("aria-pressed") == "false"
    other.click()
    assert target.locator('.trace[data-name="LogGP (Bell)"]').count() == 1


def test_all_series_may_be_hidden(opened: Opened) -> None:
    target = plot(opened)
    shown = target.locator('.key[aria-pressed="true"]')
    while shown.count():
        shown.first.click()
    assert target.locator(".trace").count() == 0
    assert opened.said == []


def test_a_plot_is_read_with_the_keyboard_alone(opened: Opened) -> None:
    target = plot(opened)
    canvas = target.locator(".plot-canvas")
    canvas.focus()
    opened.page.keyboard.press("Home")
    tip = target.locator(".plot-tip")
    assert tip.inner_text().startswith("1 B")
    opened.page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("2 B")
    assert "2 B" in target.locator("[aria-live]").inner_text()
    opened.page.keyboard.press("End")
    assert tip.inner_text().startswith("1,048,576 B (1 MiB)")
    opened.page.keyboard.press("+")
    assert target.get_by_role("button", name="Reset zoom").is_enabled()
    opened.page.keyboard.press("0")
    assert target.get_by_role("button", name="Reset zoom").is_disabled()
    opened.page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_the_theme_can_be_chosen(opened: Opened) -> None:
    page = opened.page
    ground = "getComputedStyle(document.body).backgroundColor"
    button = page.locator("#theme")
    light = page.evaluate(ground)
    button.click()
    button.click()
    assert button.inner_text() == "Theme: dark"
    assert page.evaluate(ground) != light


def test_a_plot_is_saved_as_an_svg_file(opened: Opened, tmp_path: Path) -> None:
    with opened.page.expect_download() as download:
        plot(opened).get_by_role("button", name="Save SVG").click()
    path = tmp_path / "plot.svg"
    download.value.save_as(path)
    text = path.read_text(encoding="utf-8")
    assert download.value.suggested_filename == "mpi-3-time.svg"
    assert 'xmlns="http://www.w3.org/2000/svg"' in text
    assert "message size" in text
    assert "var(--" not in text
    assert opened.said == []


PAGE_MARGINS = """() => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSPageRule).map((rule) => rule.style.margin)"""


def test_the_page_prints_with_its_plots(opened: Opened, tmp_path: Path) -> None:
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate(FAULTS) == []
    assert not opened.page.locator(".plot-bar").first.is_visible()
    paper = opened.page.pdf(format="A4")
    assert len(paper) > 20_000
    margins = opened.page.evaluate(PAGE_MARGINS)
    assert margins == ["15mm 14mm"], "nothing stands at the edge of the paper"


def test_the_paper_has_all_that_is_folded_and_no_empty_page(
    browser: sync_api.Browser, report: Path, tmp_path: Path
) -> None:
    if shutil.which("pdftotext") is None:
        missing("pdftotext", "apt-get install poppler-utils")
    opened = load(browser.new_context(), report, unfold=False)
    folded = "details.fold:not([open])"
    before = opened.page.locator(folded).count()
    titles = opened.page.locator("main :is(h2, h3)").all_text_contents()
    opened.page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert before == opened.page.locator(folded).count() > 0, "the screen is as it was"
    opened.page.context.close()
    text = subprocess.run(
        ["pdftotext", "-layout", "report.pdf", "-"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert [title for title in titles if not any(title in line for line in lines)] == []
    pages = text.split("\f")[:-1]
    assert len(pages) > 3
    assert all(len(page.split()) > 5 for page in pages)


def test_without_scripts_the_tables_still_have_the_numbers(
    browser: sync_api.Browser, report: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = load(context, report, unfold=False)
    assert opened.page.get_by_text("switched off").first.is_visible()
    opened.page.locator("figure summary").first.click()
    assert opened.page.get_by_text("Half round trip by size").first.is_visible()
    context.close()


def test_the_browser_itself_refuses_a_foreign_script_and_any_connection(
    opened: Opened, report: Path
) -> None:
    page = opened.page
    page.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "window.foreign = true";
      document.body.appendChild(script);
      return fetch("http://127.0.0.1:9/").catch(() => null);
    }""")
    assert page.evaluate("window.foreign") is None
    assert any("Content Security Policy" in text for text in opened.said)
    assert opened.asked == [report.as_uri()]
