"""Builds the site: `python site/build.py FOLDER` writes it to FOLDER, and fails on any warning.

The pages are those of docs/ and examples/papers/, README, CONTRIBUTING and CHANGELOG; those of the commands, of the
JSON schemas and of the Python functions are generated from what they describe.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

sys.path.insert(0, str(Path(__file__).parent))

from check import problems
from generate import generated_pages
from stage import files_on_site, place_on_site, staged_pages

ROOT = Path(__file__).parent.parent
SECTIONS = {
    "Start": ("index.md", "i-have-i-want.md", "CHANGELOG.md"),
    "Tutorials": ("tutorials",),
    "How-to": ("how-to",),
    "Explanation": ("explanation",),
    "Reference": ("reference",),
    "Numbers": ("numbers",),
    "Studies": ("studies",),
    "Machines": ("machines",),
    "Papers": ("papers",),
    "Decisions": ("decisions",),
    "Contributing": ("CONTRIBUTING.md",),
}


def pages(root: Path) -> dict[str, str]:
    """Markdown texts of all pages by their paths on the site, from a working tree at `root`."""
    found = staged_pages(root) | generated_pages(root)
    folders = {parent for page in found for parent in Path(page).parents if parent != Path()}
    for folder in sorted(folders, key=lambda path: -len(path.parts)):
        if f"{folder}/README.md" not in found:
            found[f"{folder}/README.md"] = _contents(folder, found)
    return found


def _contents(folder: Path, found: dict[str, str]) -> str:
    """The page of a folder that has none of its own: links to what is in it."""
    title = folder.name.replace("-", " ").capitalize()
    below = [
        page for page in sorted(found)
        if Path(page).parent == folder
        or (Path(page).parent.parent == folder and Path(page).name == "README.md")
    ]  # fmt: skip
    links = [f"- [{_title(found[page])}]({Path(page).relative_to(folder)})" for page in below]
    return "\n".join([f"# {title}", "", *links, ""])


def _title(text: str) -> str:
    """First heading of a page."""
    return next(line[2:] for line in text.splitlines() if line.startswith("# "))


def _navigation(found: dict[str, str]) -> list[dict[str, list[str]]]:
    """MkDocs' `nav`: each section with its pages, a folder's own page first."""
    sections = []
    for title, entries in SECTIONS.items():
        listed: list[str] = []
        for entry in entries:
            below = [page for page in found if page == entry or page.startswith(f"{entry}/")]
            listed += sorted(
                below,
                key=lambda page: (str(Path(page).parent), Path(page).name != "README.md", page),
            )
        if listed:
            sections.append({title: listed})
    return sections


def build(root: Path, target: Path) -> list[str]:
    """Build the site of the working tree at `root` in `target`.

    Returns what is wrong with it, a sentence each: MkDocs' warnings, broken links, commands and names
    that are missing.
    """
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    from mkdocs.commands.build import build as build_pages
    from mkdocs.config import load_config

    with TemporaryDirectory() as folder:
        staged = Path(folder) / "docs"
        found = pages(root)
        for name, text in found.items():
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).write_text(text)
        for picture in files_on_site(root, "png") + files_on_site(root, "svg"):
            copy = staged / place_on_site(picture, root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(picture.read_bytes())
        settings = yaml.safe_load((Path(__file__).parent / "mkdocs.yml").read_text())
        settings |= {"docs_dir": str(staged), "site_dir": str(target), "nav": _navigation(found)}
        settings["plugins"][-1]["mkdocstrings"]["handlers"]["python"]["paths"] = [str(root / "src")]
        file = Path(folder) / "mkdocs.yml"
        file.write_text(yaml.safe_dump(settings))
        warnings = _Warnings()
        logging.getLogger("mkdocs").addHandler(warnings)
        try:
            config = load_config(str(file), strict=False)
            build_pages(config)
        finally:
            logging.getLogger("mkdocs").removeHandler(warnings)
    return warnings.sentences + problems(target)


class _Warnings(logging.Handler):
    """Collects MkDocs' warnings and errors."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.sentences: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        self.sentences.append(record.getMessage())


def main() -> int:
    """The exit code: 1 where anything is wrong with the site."""
    target = Path(sys.argv[1]).absolute()
    wrong = build(ROOT, target)
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    print(f"The site is {target}/index.html" + (f", with {len(wrong)} problems" if wrong else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
