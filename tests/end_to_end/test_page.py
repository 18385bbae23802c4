"""What the page shows with its folds closed: short, the answer first, and all the rest behind titles."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import FAULTS, Opened, load, sync_api
from command import SIM, chiplog
from sample_report import sample_report

from chiplog.report.write import write_report

MOST_PIXELS = 9000
FIRST_SCREEN = 900
WIDTH = 1280


def shown(browser: sync_api.Browser, page: Path) -> Iterator[Opened]:
    context = browser.new_context(
        viewport={"width": WIDTH, "height": FIRST_SCREEN},
        permissions=["clipboard-read", "clipboard-write"],
    )
    yield load(context, page, unfold=False)
    context.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(sample_report(samples=10), path)
    return path


@pytest.fixture
def opened(browser: sync_api.Browser, report: Path) -> Iterator[Opened]:
    yield from shown(browser, report)


def height(opened: Opened) -> int:
    return int(opened.page.evaluate("document.documentElement.scrollHeight"))


def bottom(opened: Opened, selector: str) -> float:
    box = opened.page.locator(selector).bounding_box()
    assert box is not None, selector
    return box["y"] + box["height"]


def test_three_targets_fit_a_short_page_whose_first_screen_compares_them(opened: Opened) -> None:
    assert height(opened) <= MOST_PIXELS
    assert bottom(opened, "#overview table") < FIRST_SCREEN
    assert bottom(opened, '[data-plot="overview-time"] .plot-canvas') < FIRST_SCREEN
    table = opened.page.locator("#overview table").bounding_box()
    assert table is not None
    assert table["x"] + table["width"] <= WIDTH
    names = opened.page.locator('[data-plot="overview-bandwidth"] .key').all_inner_texts()
    assert [one.strip() for one in names] == ["shm", "tcp:bind=127.0.0.1", "mpi"]


def test_each_target_is_told_in_one_order_and_the_rest_is_folded(opened: Opened) -> None:
    for target in opened.page.locator("main > section:has(> .verdict)").all():
        titles = [one.split(" ")[0] for one in target.locator("section h3").all_inner_texts()]
        assert titles == ["Verdict", "Measured", "Parameters"]
        folds = target.locator("details.fold")
        assert folds.count() >= 8
        assert all(fold.get_attribute("open") is None for fold in folds.all())
    assert opened.page.evaluate("[...document.querySelectorAll('.plot svg')].length") > 0


def test_only_what_is_open_is_drawn_and_an_address_opens_its_fold(opened: Opened) -> None:
    page = opened.page
    folded = page.locator("details.fold .plot").first
    assert folded.locator(".plot-canvas").count() == 0
    name = folded.get_attribute("data-plot")
    page.evaluate(
        f"location.hash = document.querySelector('[data-plot={name}]').closest('details').id"
    )
    folded.locator(".plot-canvas svg").first.wait_for()
    page.evaluate("location.hash = 'term-L'")
    page.locator("#term-L").wait_for(state="visible")


def test_the_residuals_stand_on_the_axis_of_the_times_and_zoom_with_them(opened: Opened) -> None:
    page = opened.page
    times, below = (page.locator(f'[data-plot="mpi-3-model{end}"]') for end in ("", "-residuals"))

    def ticks(plot: sync_api.Locator) -> list[str]:
        texts = plot.locator(".ticks text").all()
        return [
            one.text_content() or ""
            for one in texts
            if one.get_attribute("text-anchor") == "middle"
        ]

    whole = ticks(below)
    assert ticks(times) == whole
    canvas = times.locator(".plot-canvas")
    canvas.focus()
    page.keyboard.press("+")
    assert ticks(times) == ticks(below) != whole
    page.keyboard.press("0")
    assert ticks(times) == ticks(below) == whole
    times.get_by_role("button", name="x: log").click()
    assert ticks(times) == ticks(below) != whole


def test_every_entry_of_a_legend_has_a_line(opened: Opened) -> None:
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for_function(
        "[...document.querySelectorAll('.plot')].every((one) => one.querySelector('svg'))"
    )
    hidden = page.locator('.key[aria-pressed="false"]:visible')
    while hidden.count():
        hidden.first.click()
    assert page.evaluate(FAULTS) == []
    missing = page.evaluate("""() => [...document.querySelectorAll(".plot")].flatMap((plot) => {
      const names = [...plot.querySelectorAll(".key span")].map((one) => one.textContent);
      const drawn = new Set([...plot.querySelectorAll(".trace")].map((one) => one.dataset.name));
      return names.filter((name) => !drawn.has(name)).map((name) => `${plot.dataset.plot}: ${name}`);
    })""")
    assert missing == []


def test_the_parameters_are_copied_as_latex_and_as_csv(opened: Opened) -> None:
    page = opened.page
    copies = page.locator(".copies").first
    texts = {}
    for number, language in enumerate(("LaTeX", "CSV")):
        one = copies.locator("details").nth(number)
        assert one.locator("summary").inner_text() == language
        one.locator("summary").click()
        one.get_by_role("button").click()
        one.get_by_text("Copied").wait_for()
        texts[language] = page.evaluate("navigator.clipboard.readText()")
    assert texts["LaTeX"].count(r"\\") >= 2
    assert texts["LaTeX"].rstrip().endswith(r"\end{tabular}")
    rows = list(csv.DictReader(io.StringIO(texts["CSV"])))
    known = [row for row in rows if row["parameter"] == "L" and row["identified"] == "true"]
    assert known
    for row in known:
        assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
        assert row["unit"] == "s"


@pytest.mark.parametrize("width", [390, WIDTH])
def test_paper_and_phone_have_the_same_page(
    browser: sync_api.Browser, report: Path, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    opened = load(context, report, unfold=False)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.page.emulate_media(media="print")
    assert opened.page.locator("details.fold").first.is_visible()
    assert opened.page.locator('[data-plot="mpi-3-model"] svg').first.is_visible()
    assert not opened.page.locator(".copies").first.is_visible()
    context.close()


@pytest.mark.parametrize("kind", ["eight ranks", "an imported file"])
def test_other_runs_are_as_short(browser: sync_api.Browser, tmp_path: Path, kind: str) -> None:
    page = tmp_path / "report" / "report.html"
    if kind == "eight ranks":
        words = ("run", SIM, "--ranks", 8, "--budget", 4, "-o", page.parent)
        assert chiplog(*words).code == 0
    else:
        table = tmp_path / "osu.txt"
        rows = "".join(f"{1 << step:<10} {1 + (1 << step) / 4096:.2f}\n" for step in range(21))
        table.write_text(f"# OSU MPI Latency Test v5.6.2\n# Size          Latency (us)\n{rows}")
        page.parent.mkdir()
        run, model = tmp_path / "run.jsonl", tmp_path / "model.json"
        assert chiplog("import", "osu", table, "-o", run).code == 0
        assert chiplog("fit", run, "-o", model).code == 0
        made = chiplog("report", run, "-o", page)
        assert made.code == 0, made.stderr
    for opened in shown(browser, page):
        assert height(opened) <= MOST_PIXELS / 2
        assert opened.said == []
        lonely = opened.page.evaluate("""() => JSON.parse(document.getElementById("plots").textContent) &&
          Object.values(JSON.parse(document.getElementById("plots").textContent))
            .filter((plot) => plot.traces.every((trace) => new Set(trace.x).size < 2)).map((plot) => plot.id)""")
        assert lonely == []
