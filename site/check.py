"""Checks of a built site: links, commands, options, public names, and that nothing is loaded from another host."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from commands import all_commands, option_names
from generate import public_names

LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src"}


class _Page(HTMLParser):
    """Anchors, links and loaded files of a page, and its visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to."""
        values = dict(attrs)
        self.anchors |= {values.get("id") or "", values.get("name") or ""}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")
        if tag in LOADS and values.get(LOADS[tag]) and values.get("rel") != "canonical":
            self.loaded.append(values[LOADS[tag]] or "")

    def handle_data(self, data: str) -> None:
        """Note the text."""
        self.words += data


def problems(site: Path) -> list[str]:
    """What is wrong with the site in this folder, a sentence each."""
    files = [file for file in sorted(site.rglob("*.html")) if file.parent.name != "_static"]
    pages = {file: _Page(file.read_text()) for file in files}
    found = [
        sentence for file, page in pages.items()
        for sentence in _wrong_links(file, page, pages, site)
    ]  # fmt: skip
    found += [
        f"{style.relative_to(site)} loads a file from another host."
        for style in site.rglob("*.css")
        if re.search(r"url\(['\"]?(https?:)?//", style.read_text())
    ]
    return found + _missing_commands(site, pages) + _missing_names(site, pages)


def _wrong_links(file: Path, page: _Page, pages: dict[Path, _Page], site: Path) -> list[str]:
    where = file.relative_to(site)
    found = [f"{where} loads {name}." for name in page.loaded if urlsplit(name).netloc]
    for link in page.links + page.loaded:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
        target = target / "index.html" if target.is_dir() else target
        if not target.exists():
            found.append(f"{where} links to {link}, which does not exist.")
        elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
            found.append(f"{where} links to {link}, which has no such heading.")
    return found


def _missing_commands(site: Path, pages: dict[Path, _Page]) -> list[str]:
    found = []
    for name, command in all_commands():
        page = pages.get(site / "reference" / "commands" / f"{name.replace(' ', '-')}.html")
        if page is None:
            found.append(f"The command {name} has no page.")
            continue
        words = set(re.split(r"[\s,/]+", page.words))
        found += [
            f"The page of {name} lacks its option {each}."
            for each in option_names(command)
            if each not in words
        ]
    return found


def _missing_names(site: Path, pages: dict[Path, _Page]) -> list[str]:
    page = pages.get(site / "reference" / "functions.html")
    anchors = page.anchors if page else set()
    return [
        f"The public name chiplog.{name} is not on the page of functions."
        for name in public_names()
        if f"chiplog{name}" not in anchors
    ]
