"""Text of a file acts nowhere: neither on the terminal nor in another program, a table or a page."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from chiplog.cli import main
from chiplog.dataset.importers import import_file
from chiplog.dataset.lines import encode_line
from chiplog.export.exporter import EXPORTERS
from chiplog.quoting import (
    code_for_markdown,
    for_csv,
    for_latex,
    for_line,
    for_markdown,
    for_xml_comment,
)

ESCAPE = "\x1b]0;title\x07\x1b[2J"
HOSTILE = (
    f"{ESCAPE}x",
    "tcp\n-L 666 -S 1",
    '=HYPERLINK("http://x")',
    "a\\|`<img src=x onerror=alert(1)>[red]",
    "\u202eevil\udc80-->",
)
FREE = ("target", "transport", "chiplog", "run_id")
"""What a header says in any words."""


def table(tmp_path: Path) -> Path:
    rows = [
        f"{pattern},{size},{train},{1e-6 * (2 + size / 1000) * (1 if train == 1 else train * 0.7)}"
        for size in (1, 64, 512, 1024, 4096, 8192)
        for pattern, train in (("ping_pong", 1), ("prtt", 1), ("prtt", 10))
        for _ in range(8)
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["pattern,message_bytes,train,seconds", *rows]) + "\n")
    return import_file("csv", path, tmp_path / "plain.jsonl", direction="round-trip")


def hostile(plain: Path, text: str) -> Path:
    """The run with `text` in every free-text field of its header, and in the tags of its records."""
    lines = []
    for line in plain.read_bytes().splitlines():
        members = json.loads(line)
        if members["type"] == "header":
            members.update(dict.fromkeys(FREE, text))
            members["machine"] = {"kernel": text, "cpu": text, text: text}
            members["hosts"] = [text, text]
            members["mpi"] = {"library": text}
            members["warnings"] = [{"fact": text, "number": 1, "unit": text, "remedy": text}]
            members["provenance"] = {**members["provenance"], "convention": text, "file": text}
        elif members["type"] == "record":
            members["tag"] = {text: text}
        lines.append(encode_line(members))
    path = plain.with_name("hostile.jsonl")
    path.write_bytes(b"".join(lines))
    return path


def acts(text: str) -> bool:
    return any(not one.isprintable() and one not in "\n\t" for one in text)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_run_acts_where_it_goes(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = table(tmp_path)
    run = str(hostile(plain, text))
    model, page = str(tmp_path / "model.json"), str(tmp_path / "report.md")
    commands = (
        ["fit", run, "--model", "loggp,hockney", "-o", model],
        ["fit", run, "--model", "loggp", "--details"],
        ["changes", run, "--details"],
        ["compare", run, "--models", "loggp,hockney"],
        ["compare", run, str(plain)],
        ["report", run, model, "-o", page],
        ["predict", model, "barrier", "--ranks", "4", "--anyway"],
        *(
            ["export", source, "--to", name, "-o", str(tmp_path / f"out.{name}"), "--anyway"]
            for name in EXPORTERS.names()
            for source in (run, model)
        ),
    )
    for command in commands:
        main(command)
        said = capsys.readouterr()
        assert not acts(said.out) and not acts(said.err), command
        assert "Traceback" not in said.err
    shown = Path(page).read_text()
    assert not acts(shown) and not re.search(r"(?<!\\)<(?!/?(?:br|code)>)", shown)
    for name in ("csv", "loggopsim", "codes", "simgrid"):
        path = tmp_path / f"out.{name}"
        if path.exists():
            check_export(name, path.read_text())


def check_export(name: str, content: str) -> None:
    assert not acts(content)
    if name == "csv":
        cells = [cell for row in csv.reader(content.splitlines()) for cell in row]
        assert not any(cell.startswith(("=", "+", "@")) for cell in cells)
    if name == "loggopsim":
        assert len([line for line in content.splitlines() if not line.startswith("#")]) == 1
    if name == "simgrid":
        assert content.count("-->") == 1


def test_each_destination_has_its_own_danger() -> None:
    assert for_line("a\n b\r\tc\u2028d") == "a b c d"
    assert (
        for_latex("\\input{f}\n$^~")
        == r"\textbackslash{}input\{f\} \$\textasciicircum{}\textasciitilde{}"
    )
    assert for_csv("=1+1") == "'=1+1" and for_csv("tcp") == "tcp"
    assert "--" not in for_xml_comment("a--->b") and ">" not in for_xml_comment("->")
    assert for_markdown("a|<b>&lt;") == r"a\|\<b\>\&lt;"
    assert code_for_markdown("plain_name") == "`plain_name`"
    assert code_for_markdown(r"\|`<b>") == r"<code>\\\|\`&lt;b&gt;</code>"
    assert code_for_markdown("") == ""
