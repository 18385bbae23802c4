"""Draw the gallery: a page a document and the list of all figures, into docs/gallery. Called by `make gallery`."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from gallery.catalogue import DOCUMENTS, Document  # noqa: E402
from gallery.section import NotHere, Section, write_picture  # noqa: E402

TARGET = ROOT / "docs" / "gallery"


def sections(document: Document) -> tuple[Section, ...]:
    """What is drawn of a document; nothing where it has no module yet."""
    name = document.name.replace("-", "_")
    if not (Path(__file__).parent / f"{name}.py").exists():
        return ()
    found: tuple[Section, ...] = importlib.import_module(f"gallery.{name}").SECTIONS
    return found


def drawn(document: Document, one: Section, folder: Path) -> str:
    """A section in Markdown; its picture goes to `folder`. NotHere without its measurements."""
    lines = [f'<a id="{one.key}"></a>', "", f"## {one.title}", ""]
    said = ["**The document:** " + one.says, ""]
    if one.picture:
        picture = f"{document.name}-{one.key}.svg"
        shows = write_picture(one, folder / picture)
        lines += [f"![{one.title}]({picture})", "", *said, f"**chiplog:** {shows}", ""]
    else:
        lines += [*said, one.draw(None), ""]
    if one.commands:
        lines += ["```sh", *one.commands, "```", ""]
    return "\n".join([*lines, f"**What differs, and why:** {one.differs.strip()}", ""])


def drawn_before(document: Document, one: Section, folder: Path) -> str:
    """The section as the page in `folder` has it; "" where it has none."""
    page = folder / f"{document.name}.md"
    anchor = re.escape(f'<a id="{one.key}"></a>')
    found = re.search(
        anchor + r'.*?(?=\n<a id="|\Z)', page.read_text() if page.exists() else "", flags=re.DOTALL
    )
    return found[0] if found else ""


def page(document: Document, folder: Path) -> str:
    """A document's page in Markdown; its pictures go to `folder`."""
    lines = [f"# {document.name}: figure by figure", "", f"{document.source}.", ""]
    lines += ["Written by `make gallery`; each number under *chiplog* comes from that run.", ""]
    for one in sections(document):
        try:
            lines.append(drawn(document, one, folder))
        except NotHere as missing:
            print(f"{document.name}, {one.key}: not drawn anew: {missing}", file=sys.stderr)
            lines.append(drawn_before(document, one, folder))
    return "\n".join(lines)


def made_from(section: Section) -> str:
    """What a section's numbers come from, by its commands."""
    commands = " ".join(section.commands)
    for word, source in (
        ("import nodecomm", "published measurements"),
        ("measure sim:", "a simulated network"),
        ("simulate", "a simulated schedule"),
        ("doctor", "words of the slides, and the machine that draws"),
    ):
        if word in commands:
            return source
    return "printed or chosen parameters, by formulas"


def contents() -> str:
    """The list of all figures and tables with what became of each."""
    lines = ["# Gallery: five documents, figure by figure", ""]
    lines += [
        "Every figure and table of the five documents from which chiplog's models come, drawn by chiplog. The "
        "machines of the documents are gone: simulated networks stand for them, but for the Cray XE6, of which "
        "measurements were published. The last column says what each is made from, and each page what differs from "
        "the document, and why. Pictures and words are ours. `make gallery` draws them anew.",
        "",
        "We know the texts of the documents. What their pictures show beyond that is not known to us, and nothing is "
        "claimed of it.",
        "",
    ]
    for document in DOCUMENTS:
        made = {one.key: made_from(one) for one in sections(document)}
        lines += [f"## {document.source}", ""]
        lines += ["| where | what | state | made from |", "|---|---|---|---|"]
        for item in document.items:
            state = f"not drawn: {item.reason}" if item.reason else "not drawn"
            if item.drawn_by in made:
                state = f"[drawn]({document.name}.md#{item.drawn_by})"
            source = made.get(item.drawn_by, "")
            lines.append(f"| {item.place} | {item.title} | {state} | {source} |")
        lines.append("")
    return "\n".join(lines)


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
