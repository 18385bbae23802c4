"""The report in Chromium: what may not be wrong with any plot of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from needs import missing

try:
    from playwright import sync_api
except ImportError:
    if os.environ.get("CI") == "true":
        raise
    pytest.skip("playwright is missing (make setup)", allow_module_level=True)

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
FAULTS = """() => {
  const faults = [];
  for (const plot of document.querySelectorAll(".plot")) {
    const id = plot.dataset.plot, svg = plot.querySelector(".plot-canvas svg");
    if (!svg) { faults.push(`${id}: nothing drawn`); continue; }
    for (const element of svg.querySelectorAll("*"))
      for (const { name, value } of element.attributes)
        if (/NaN|Infinity|undefined|null/.test(value)) faults.push(`${id}: ${name}=${value}`);
    const frame = svg.querySelector("clipPath rect").getBBox();
    const drawn = [...svg.querySelectorAll(".trace .point, .trace .line")];
    if (!plot.querySelector(".tool:disabled")) continue; // zoomed: what lies outside is cut off
    if (!drawn.length) faults.push(`${id}: no trace`);
    for (const path of drawn) {
      const box = path.getBBox(), name = path.parentElement.dataset.name;
      if (!path.getAttribute("d")) { faults.push(`${id}: ${name} is empty`); continue; }
      const inside = box.x < frame.x + frame.width && box.x + box.width > frame.x &&
        box.y < frame.y + frame.height && box.y + box.height > frame.y;
      if (!inside) faults.push(`${id}: ${name} is out of sight`);
    }
    const points = svg.querySelector(".trace .point");
    if (points && plot.dataset.plot.endsWith("-time")) {
      const box = points.getBBox();
      if (box.x < frame.x - 8 || box.x + box.width > frame.x + frame.width + 8 ||
          box.y < frame.y - 8 || box.y + box.height > frame.y + frame.height + 8)
        faults.push(`${id}: measured points leave the plot`);
    }
    if (svg.querySelectorAll(".ticks text").length < 4) faults.push(`${id}: too few ticks`);
  }
  return faults;
}"""

OVERLAPS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll(".plot-canvas svg")) {
    const boxes = [...svg.querySelectorAll(".ticks text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
      const across = p.left < q.right && q.left < p.right;
      if (across && p.top + 2 < q.bottom - 2 && q.top + 2 < p.bottom - 2) found.push(`${a} / ${b}`);
    }));
  }
  return found;
}"""


COVERED = """() => {
  const covered = [];
  for (const svg of document.querySelectorAll(".plot-canvas svg")) {
    const labels = [...svg.querySelectorAll(".mark text")].map((t) => [t.textContent, t.getBBox()]);
    for (const path of svg.querySelectorAll(".trace .point"))
      for (const [, x, y] of path.getAttribute("d").matchAll(/M([\\d.]+) ([\\d.]+)/g))
        for (const [text, box] of labels)
          if (+x > box.x && +x < box.x + box.width && +y > box.y && +y < box.y + box.height)
            covered.push(`${text} over ${x}, ${y}`);
    labels.forEach(([a, p], i) => labels.slice(i + 1).forEach(([b, q]) => {
      if (p.x < q.x + q.width && q.x < p.x + p.width && p.y < q.y + q.height && q.y < p.y + p.height)
        covered.push(`${a} over ${b}`);
    }));
  }
  return covered;
}"""
"""Labels of marks that lie on points, or on each other."""


@dataclass
class Opened:
    """A page with all that it said and asked for."""

    page: sync_api.Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[sync_api.Browser]:
    """A browser; without one the test is skipped."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("chromium", "apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield started
        started.close()


UNFOLD = (
    """() => document.querySelectorAll("details.fold").forEach((one) => { one.open = true; })"""
)
ALL_DRAWN = (
    """() => [...document.querySelectorAll(".plot")].every((one) => one.querySelector("svg"))"""
)


def load(context: sync_api.BrowserContext, report: Path, *, unfold: bool = True) -> Opened:
    """The report in a new page, by default with all folds open; what it says and asks for is written down."""
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.on("request", lambda request: found.asked.append(request.url))
    found.page.goto(report.as_uri())
    if unfold:
        found.page.evaluate(UNFOLD)
        found.page.wait_for_function(ALL_DRAWN)
    return found
