"""Pages of the repository as pages of the site: links that work in the repository are turned into links on the site."""

from __future__ import annotations

import os
import re
from pathlib import Path

from notebooks import notebook_page

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)
TOP = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
FOLDERS = {"docs": Path(), "examples/papers": Path("papers")}
"""Folders of the repository whose pages and pictures are on the site, and where they are there."""


def staged_pages(root: Path) -> dict[str, str]:
    """Texts of the repository's own pages by their paths on the site."""
    files = [root / name for name in TOP] + files_on_site(root, "md")
    texts = {file: file.read_text() for file in files}
    texts |= {file: notebook_page(file) for file in files_on_site(root, "ipynb")}
    return {
        place_on_site(file, root): with_site_links(text, file, root) for file, text in texts.items()
    }


def files_on_site(root: Path, kind: str) -> list[Path]:
    """Files of a kind, like "md", in the folders that are on the site."""
    return [file for folder in FOLDERS for file in sorted((root / folder).rglob(f"*.{kind}"))]


def place_on_site(file: Path, root: Path) -> str:
    """Path on the site of a file or folder of the repository, and "" for what is not on the site."""
    inside = os.path.relpath(os.path.abspath(file), root)
    if inside in TOP:
        return TOP[inside]
    if inside.startswith("schemas"):
        return f"reference/schemas/{Path(inside).name.removesuffix('.schema.json')}.md"
    for folder, folder_on_site in FOLDERS.items():
        if Path(inside).is_relative_to(folder):
            place = folder_on_site / Path(inside).relative_to(folder)
            if file.is_dir() or file.name == "README.md":
                return str((place if file.is_dir() else place.parent) / "index.md")
            return str(place.with_suffix(".md")) if file.suffix == ".ipynb" else str(place)
    return ""


def with_site_links(text: str, file: Path, root: Path) -> str:
    """A page's text with its links as they are on the site; a link to a file that is not on the site loses its link."""
    here = Path(place_on_site(file, root)).parent

    def replaced(match: re.Match[str]) -> str:
        mark, label, link = match.groups()
        path, _, anchor = link.partition("#")
        target = file.parent / path
        if "://" in link or not path or not target.exists():
            return match[0]  # Sphinx says so where it leads nowhere
        place = place_on_site(target, root)
        if not place:
            return label if label.startswith("`") else f"{label} (`{path.replace('../', '')}`)"
        return f"{mark}[{label}]({os.path.relpath(place, here)}{'#' * bool(anchor)}{anchor})"

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(replaced, part) for part in parts)


def heading_anchor(title: str) -> str:
    """The anchor of a heading: lower case, hyphens for blanks, other marks left out."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())
