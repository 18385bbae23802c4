"""Builds the site: `python site/build.py FOLDER` writes it to FOLDER, and fails on any warning.

The pages are those of docs/ and examples/papers/, README, CONTRIBUTING and CHANGELOG; those of the commands, of the
JSON schemas and of the Python functions are generated from what they describe.
"""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

from check import problems
from generate import generated_pages
from stage import files_on_site, place_on_site, staged_pages

ROOT = Path(__file__).parent.parent
SECTIONS = (
    "i-have-i-want.md", "tutorials", "how-to", "explanation", "reference", "numbers", "studies", "machines",
    "papers", "decisions", "CONTRIBUTING.md", "CHANGELOG.md",
)  # fmt: skip
"""Files and folders at the top of every page, in this order."""
COLOURS = re.compile(r"\x1b\[[\d;]*m")


def pages(root: Path) -> dict[str, str]:
    """Markdown texts of all pages by their paths on the site, from a working tree at `root`."""
    texts = staged_pages(root) | generated_pages(root)
    folders = {parent for page in texts for parent in Path(page).parents if parent != Path()}
    for folder in sorted(folders, key=lambda path: -len(path.parts)):
        index = f"{folder}/index.md"
        listed = _below(folder, texts)
        texts.setdefault(index, _contents(folder, listed, texts))
        texts[index] += _sidebar([str(Path(page).relative_to(folder)) for page in listed])
    tops = [top if top.endswith(".md") else f"{top}/index.md" for top in SECTIONS]
    texts["index.md"] += _sidebar([page for page in tops if page in texts])
    return texts


def _below(folder: Path, texts: dict[str, str]) -> list[str]:
    """Pages of a folder other than its own, and those of the folders in it."""
    return [
        page for page in sorted(texts)
        if (Path(page).parent == folder and Path(page).name != "index.md")
        or (Path(page).parent.parent == folder and Path(page).name == "index.md")
    ]  # fmt: skip


def _sidebar(listed: list[str]) -> str:
    """What Sphinx makes the sidebar of; it shows nothing on the page itself."""
    return "\n".join(["", "```{toctree}", ":hidden:", "", *listed, "```", ""]) if listed else ""


def _contents(folder: Path, listed: list[str], texts: dict[str, str]) -> str:
    """The page of a folder that has none of its own: links to what is in it."""
    title = folder.name.replace("-", " ").capitalize()
    links = [f"- [{_title(texts[page])}]({Path(page).relative_to(folder)})" for page in listed]
    return "\n".join([f"# {title}", "", *links, ""])


def _title(text: str) -> str:
    """First heading of a page."""
    return next(line[2:] for line in text.splitlines() if line.startswith("# "))


def build(root: Path, target: Path) -> list[str]:
    """Build the site of the working tree at `root` in `target`.

    Returns what is wrong with it, a sentence each: Sphinx's warnings, broken links, commands and names
    that are missing.
    """
    from sphinx.application import Sphinx

    with TemporaryDirectory() as folder:
        staged = Path(folder) / "docs"
        for name, text in pages(root).items():
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).write_text(text)
        for picture in files_on_site(root, "png") + files_on_site(root, "svg"):
            copy = staged / place_on_site(picture, root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(picture.read_bytes())
        warnings = io.StringIO()
        Sphinx(
            str(staged), str(Path(__file__).parent), str(target), str(Path(folder) / "read"), "html",
            status=None, warning=warnings,
        ).build()  # fmt: skip
    written = COLOURS.sub("", warnings.getvalue()).replace(f"{staged}{os.sep}", "")
    return [line for line in written.splitlines() if line] + problems(target)


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
