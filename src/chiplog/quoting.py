"""Text that goes elsewhere: one function for each destination, so that no text of a file acts there.

A terminal obeys escape sequences, a spreadsheet calculates cells that begin with `=`, another program takes the line
after a comment for its options, and what shows Markdown obeys tags. JSON and HTML have their own escapes.
"""

from __future__ import annotations

import re

_LINES = re.compile(r"\s+")
_FORMULA = ("=", "+", "-", "@")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_IN_TAGS = re.compile(r"([\\`*_{}\[\]#|~])")
_BACKSLASHED = r"\\\1"
_LATEX = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_TAGS = re.compile(r"[\\`<>&|]")


def for_terminal(text: str) -> str:
    r"""Text without what a terminal obeys, on as many lines as it has.

    >>> for_terminal("a\x1b[2Jb\n")
    'a\ufffd[2Jb\n'
    """
    return "".join(one if one.isprintable() or one in "\n\t" else "\ufffd" for one in text)


def for_line(text: str) -> str:
    r"""Text for a comment or a word of another program's file, which ends at the end of its line.

    >>> for_line("tcp\n-L 1")
    'tcp -L 1'
    """
    return for_terminal(_LINES.sub(" ", text)).strip()


def for_xml_comment(text: str) -> str:
    """Text for an XML comment, which two hyphens would end."""
    return re.sub("-(?=-)", "- ", for_line(text)).replace("<", "&lt;").replace(">", "&gt;")


def for_csv(text: str) -> str:
    """Text for a cell that a spreadsheet shows instead of calculating it; numbers stay as they are written."""
    line = for_line(text)
    return f"'{line}" if line.startswith(_FORMULA) else line


def for_markdown(text: str) -> str:
    """Text for a paragraph, a title or a cell of Markdown."""
    flat = re.sub(r"\s*[\r\n]+\s*", " ", text)
    return _MARKDOWN.sub(_BACKSLASHED, for_terminal(flat))


def code_for_markdown(text: str) -> str:
    """Code in Markdown; by tags where it holds what would end a code span or a table's cell."""
    line = for_line(text)
    if not line:
        return ""
    if not _TAGS.search(line):
        return f"`{line}`"
    escaped = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<code>{_IN_TAGS.sub(_BACKSLASHED, escaped)}</code>"


def for_latex(text: str) -> str:
    r"""Text for LaTeX, in a paragraph, a cell or within \mathrm, where no command of it acts.

    >>> for_latex("50%_")
    '50\\%\\_'
    """
    return "".join(_LATEX.get(letter, letter) for letter in for_line(text))
