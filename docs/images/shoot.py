"""Takes the pictures of a report: `python docs/images/shoot.py REPORT.html DIRECTORY [TARGET]`.

TARGET is the identifier of the target's section in the page, e.g. "mpi-3". Needs Playwright and Debian's chromium.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

DESKTOP, PHONE = (1280, 860), (390, 844)


def shoot(
    browser: Browser, report: Path, picture: Path, size: tuple[int, int], scheme: str, part: str
) -> None:
    """One picture of the window with the section `part` at its top."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(report.resolve().as_uri())
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    page.evaluate("(part) => part && document.getElementById(part).scrollIntoView()", part)
    page.wait_for_timeout(200)
    page.screenshot(path=str(picture))
    context.close()


def main() -> None:
    """Takes all pictures."""
    report, directory = Path(sys.argv[1]), Path(sys.argv[2])
    target = sys.argv[3] if len(sys.argv) > 3 else "mpi-3"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        shoot(browser, report, directory / "report.png", DESKTOP, "light", "")
        shoot(browser, report, directory / "report-model.png", DESKTOP, "light", f"{target}-model")
        shoot(browser, report, directory / "report-dark.png", DESKTOP, "dark", f"{target}-model")
        shoot(browser, report, directory / "report-phone.png", PHONE, "light", f"{target}-model")
        browser.close()


if __name__ == "__main__":
    main()
