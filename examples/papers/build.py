"""Draws a page for each document into `pages`, and lists all figures in README.md. Called by `make papers`."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from papers.catalogue import DOCUMENTS, Document  # noqa: E402
from papers.section import NotHere, Section, write_picture  # noqa: E402

PAGES = HERE / "pages"
INTRODUCTION = """\
# Five papers, figure by figure

Every figure and table of the five documents from which chiplog's models come, drawn by chiplog. The machines of the
documents are gone: simulated networks stand for them, except for the Cray XE6, whose measurements were published.
The last column of each table says what a figure is made from, and each page says what differs from the document, and
why. Pictures and words are ours.

We know the texts of the documents. What their pictures show beyond that is not known to us, and nothing is claimed of
it.

| here | what |
|---|---|
| `pages` | a page for each document, with its pictures and the commands that give each number |
| `schedules` | GOAL files that those commands simulate |
| `catalogue.py` | the list of all figures and tables |
| `lop.py`, `logfp.py`, `loggp_prtt.py`, `max_rate.py`, `n_way_dissemination.py` | what draws each document's figures |
| other files | what several of them draw alike |
| `build.py` | writes `pages` and this README |

`make papers` in the top folder draws all of it anew. The Cray's figures need its published measurements:
`make papers NODECOMM=FILE` draws them too; without the file their sections keep what was drawn before. The commands of
the pages run in the top folder.
"""


def sections(document: Document) -> tuple[Section, ...]:
    """Sections that the document's own module draws; nothing where it has no module yet."""
    name = document.name.replace("-", "_")
    if not (HERE / f"{name}.py").exists():
        return ()
    drawn_sections: tuple[Section, ...] = importlib.import_module(f"papers.{name}").SECTIONS
    return drawn_sections


def drawn(document: Document, section: Section, folder: Path) -> str:
    """A section in Markdown; its picture goes to `folder`. NotHere without its measurements."""
    lines = [f'<a id="{section.key}"></a>', "", f"## {section.title}", ""]
    said = ["**The document:** " + section.says, ""]
    if section.picture:
        picture = f"{document.name}-{section.key}.svg"
        shows = write_picture(section, folder / picture)
        lines += [f"![{section.title}]({picture})", "", *said, f"**chiplog:** {shows}", ""]
    else:
        lines += [*said, section.draw(None), ""]
    if section.commands:
        lines += ["```sh", *section.commands, "```", ""]
    return "\n".join([*lines, f"**What differs, and why:** {section.differs.strip()}", ""])


def drawn_before(document: Document, section: Section, folder: Path) -> str:
    """The section as the page in `folder` has it; "" where it has none."""
    page = folder / f"{document.name}.md"
    anchor = re.escape(f'<a id="{section.key}"></a>')
    earlier = re.search(
        anchor + r'.*?(?=\n<a id="|\Z)', page.read_text() if page.exists() else "", flags=re.DOTALL
    )
    return earlier[0] if earlier else ""


def page(document: Document, folder: Path) -> str:
    """A document's page in Markdown; its pictures go to `folder`."""
    lines = [f"# {document.name}: figure by figure", "", f"{document.source}.", ""]
    lines += ["Written by `make papers`; each number under *chiplog* comes from that run.", ""]
    for section in sections(document):
        try:
            lines.append(drawn(document, section, folder))
        except NotHere as missing:
            print(f"{document.name}, {section.key}: not drawn anew: {missing}", file=sys.stderr)
            lines.append(drawn_before(document, section, folder))
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
    """The folder's README: how it is laid out, and the list of all figures and tables."""
    lines = [INTRODUCTION]
    for document in DOCUMENTS:
        made = {section.key: made_from(section) for section in sections(document)}
        lines += [f"## {document.source}", ""]
        lines += ["| where | what | state | made from |", "|---|---|---|---|"]
        for item in document.items:
            state = f"not drawn: {item.reason}" if item.reason else "not drawn"
            if item.drawn_by in made:
                state = f"[drawn](pages/{document.name}.md#{item.drawn_by})"
            source = made.get(item.drawn_by, "")
            lines.append(f"| {item.place} | {item.title} | {state} | {source} |")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    """Write all pages."""
    only = sys.argv[1:]
    PAGES.mkdir(exist_ok=True)
    for document in DOCUMENTS:
        if sections(document) and (not only or document.name in only):
            (PAGES / f"{document.name}.md").write_text(page(document, PAGES))
    (HERE / "README.md").write_text(contents())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
