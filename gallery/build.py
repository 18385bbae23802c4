"""Draw the gallery: a page a document and the list of all figures, into docs/gallery. Called by `make gallery`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from gallery.catalogue import DOCUMENTS, Document  # noqa: E402
from gallery.section import Section, write_picture  # noqa: E402

TARGET = ROOT / "docs" / "gallery"


def sections(document: Document) -> tuple[Section, ...]:
    """What is drawn of a document; nothing where it has no module yet."""
    name = document.name.replace("-", "_")
    if not (Path(__file__).parent / f"{name}.py").exists():
        return ()
    found: tuple[Section, ...] = importlib.import_module(f"gallery.{name}").SECTIONS
    return found


def page(document: Document, folder: Path) -> str:
    """A document's page in Markdown; its pictures go to `folder`."""
    lines = [f"# {document.name}: figure by figure", "", f"{document.source}.", ""]
    lines += ["Written by `make gallery`; each number under *chiplog* comes from that run.", ""]
    for one in sections(document):
        shows, picture = "", f"{document.name}-{one.key}.svg"
        if one.picture:
            shows = write_picture(one, folder / picture)
            drawn = [f"![{one.title}]({picture})", ""]
        else:
            shows, drawn = one.draw(None), []
        lines += [f'<a id="{one.key}"></a>', "", f"## {one.title}", "", *drawn]
        lines += [
            f"**The document:** {one.says}",
            "",
            f"**chiplog:** {shows}" if one.picture else shows,
            "",
        ]
        if one.commands:
            lines += ["```sh", *one.commands, "```", ""]
        lines += [f"**What differs, and why:** {one.differs.strip()}", ""]
    return "\n".join(lines)


def contents() -> str:
    """The list of all figures and tables with what became of each."""
    lines = ["# Gallery: five documents, figure by figure", ""]
    lines += [
        "Every figure and table of the five documents from which chiplog's models come: drawn by chiplog's own "
        "commands, or the reason why not. Numbers are the documents'; pictures and words are ours. `make gallery` "
        "draws them anew.",
        "",
    ]
    for document in DOCUMENTS:
        drawn = {one.key for one in sections(document)}
        lines += [f"## {document.source}", "", "| where | what | state |", "|---|---|---|"]
        for item in document.items:
            state = f"not drawn: {item.reason}" if item.reason else "not drawn: not drawn yet"
            if item.drawn_by in drawn:
                state = f"[drawn]({document.name}.md#{item.drawn_by})"
            lines.append(f"| {item.place} | {item.title} | {state} |")
        lines.append("")
    return "\n".join(lines).replace("not drawn: not drawn yet", "not drawn yet")


def main() -> int:
    """Write all pages."""
    only = sys.argv[1:]
    TARGET.mkdir(exist_ok=True)
    for document in DOCUMENTS:
        if sections(document) and (not only or document.name in only):
            (TARGET / f"{document.name}.md").write_text(page(document, TARGET))
    (TARGET / "README.md").write_text(contents())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
