"""What other tools' tables have in common: lines that are none of theirs, rows without a time, and tables of two paths.

Launchers, libraries and shells print between the rows, and before each line. What is left out is counted, so that no
importer skips anything without a warning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field

from chiplog.dataset.importer import Source
from chiplog.dataset.lines import Where
from chiplog.errors import CorruptFile
from chiplog.outside import as_integer, as_number

_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_TIME = r"[A-Z][a-z]{2} +\d{1,2} (?:\d\d:){2}\d\d(?:[.,]\d+)?(?: [A-Z]{3,4})?"
_DATE = rf"(?:[A-Z][a-z]{{2}} +{_TIME}(?: \d{{4}})?|{_TIME})"
"""A date; without the day of the week there is no year, which a message's size could be taken for."""
_TAG = re.compile(rf"(?:{_DATE})?(\[[^\[\]<>]{{1,80}}\])<std(?:out|err)>:[ \t]?")
"""What `mpirun --tag-output` puts before a line, and `--timestamp-output` before that; its group names the rank."""
_PREFIX = re.compile(
    r"\s*(?:\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?(?=\s)|\d{1,7}:(?=\s|\\?#|\d)|\[\d{1,7}\](?=\s)"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[^\s\]]*\]?(?=\s)|\[pod/[^\s\]]+\](?=\s)"
    rf"|\[?{_DATE}\]?(?=\s)(?: [\w.-]+ [\w./-]+(?:\[\d+\])?:(?=\s))?"
    r"|[A-Za-z][\w.-]*\d[\w.-]*[ \t]\d{1,7}:(?=[ \t])"
    r"|(?:[A-Za-z][\w.-]*[ \t]+\||[A-Za-z][\w.-]*\d[\w.-]*:(?=[ \t])|(?:>[ \t]?)+)(?=[ \t]*\\?[#\d]))[ \t]?"
)
"""What `srun -l`, `mpiexec -l` (of MPICH, of Intel MPI and of Cray's PALS), services that keep logs, `journalctl`,
`ts`, `docker compose`, `kubectl logs`, `pdsh` (a host whose name has a digit) and quotations put before each line."""
PREFIXES = 3
"""Given: so many prefixes may stand before a line, as a date before a rank's number."""
_PLACES = re.compile(
    r"\b(intra|inter|same|different|single|two)[-_ ]?(node|socket|numa)s?\b", re.IGNORECASE
)
_COMMAND_NODES = re.compile(
    r"(?:osu_|IMB-)\w+|(?:^|\s)(?:-N\s*|--nodes[= ])(?P<nodes>\d{1,6})(?=\s|$)"
)
"""A test's name and the number of nodes in a launcher's command."""
_COMMAND_TEST = re.compile(r"(?:osu_|IMB-)\w+")
_COMMAND_RANKS = re.compile(r"(?:^|\s)(?:-np?|--np|--ntasks)[= ]?\s*(\d{1,8})(?=\s|$)")
"""The number of ranks in a launcher's command."""
_SAME_PLACE = {"same": "intra", "single": "intra", "different": "inter", "two": "inter"}


def clean_lines(source: Source) -> Iterator[tuple[Where, str]]:
    """The lines of `source` with their places, without colours, launchers' prefixes and white space around them.

    Where a launcher lost the end of a line, so that another one follows its prefix, they come apart.
    """
    for where, line in printed_lines(source):
        yield where, line.strip()


def printed_lines(source: Source) -> Iterator[tuple[Where, str]]:
    """As `clean_lines`, with the white space around them."""
    for number, line in enumerate(source.lines(), start=1):
        for piece in pieces(line):
            yield source.where(number), piece


def unprefixed(line: str) -> str:
    """A line without what launchers and logs put before it; its white space stays."""
    if tag := _TAG.match(line.lstrip()):
        line = line.lstrip()[tag.end() :]
    for _ in range(PREFIXES):
        match = _PREFIX.match(line)
        if match is None:
            break
        line = line[match.end() :]
    return line


def pieces(line: str) -> list[str]:
    """The lines of a tool that one line holds, which are several where a launcher's prefix stands in its midst.

    A prefix also stands in the midst of a number where a buffer of the launcher ended there.

    >>> pieces("[1,0]<stdout>:0    0.28[1,0]<stdout>:1    0.29")
    ['0    0.28', '1    0.29']
    >>> pieces("[1,0]<stdout>:1024    2.4[1,0]<stdout>:4")
    ['1024    2.44']
    >>> pieces("2024-05-01T10:11:12.5Z 8    1.23"), pieces("8    1.23")
    (['8    1.23'], ['8    1.23'])
    """
    line = _COLOURS.sub("", line)
    tags = list(_TAG.finditer(line))
    if not tags:
        return [unprefixed(line)]
    ends = [*(tag.start() for tag in tags[1:]), len(line)]
    parts = [("", line[: tags[0].start()])] if line[: tags[0].start()].strip() else []
    texts = [(tag[1], line[tag.end() : end]) for tag, end in zip(tags, ends, strict=True)]
    parts += [(rank, text) for rank, text in texts if text.strip()]
    return _joined(parts) if len(parts) > 1 else [unprefixed(text) for _, text in parts]


def _joined(parts: Sequence[tuple[str, str]]) -> list[str]:
    """Each rank's lines, those put together that a prefix cut.

    Where it is not clear whether a row was cut, a rank's name stays in its number, so that nobody can read it.
    """
    lines: list[str] = []
    last = ""
    for rank, text in parts:
        words = lines[-1].split() if lines else []
        if not lines or _is_next_line(lines[-1], text):
            lines.append(text)
        elif last and rank != last:
            lines[-1] += rank if is_row(words) else ""
            lines.append(text)
        elif not is_row(words) or len(words) == 1 or len(text.split()) < len(words):
            lines[-1] += text
        else:
            lines[-1] += rank + text
        last = rank
    return lines


def _is_next_line(line: str, text: str) -> bool:
    """Is `text` a line of its own, not the rest of `line`? Rows of one table are alike in words and digits."""
    words, others = line.split(), text.split()
    if not is_row(words):
        return bool(re.match(r"\s*\\?#|\s*\d", text)) or not text[:1].isalnum()
    return len(words) == len(others) > 1 and _decimals(words) == _decimals(others)


def _decimals(words: Sequence[str]) -> list[int]:
    """How many digits each word behind the first has after its point."""
    return [len(word.partition(".")[2]) for word in words[1:]]


def is_number(word: str) -> bool:
    """Is `word` a number as a table prints it, which may be nan?"""
    return as_number(word) is not None


def is_row(words: Sequence[str]) -> bool:
    """Does a line begin as a row does: with a number, and with no word of prose after it?"""
    return bool(words) and is_number(words[0]) and (len(words) == 1 or is_number(words[1]))


def lacks_value(word: str) -> bool:
    """Is `word` what tools print where they have no time: zero, or no finite number?"""
    value = as_number(word)
    return value is None or value == 0.0 or not math.isfinite(value)


def noted(number: int, unit: str, fact: str, remedy: str) -> tuple[Mapping[str, object], ...]:
    """The warning about so many units of something, with what to do; none where the number is 0."""
    return ({"fact": fact, "number": number, "unit": unit, "remedy": remedy},) if number else ()


@dataclass
class Skipped:
    """What was left out of a file: how much of each kind, and where the first of it stands."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, tuple[Where, str]] = field(default_factory=dict)
    errors: dict[str, CorruptFile] = field(default_factory=dict)
    """Why the first one of each kind can't be imported."""
    _cut: tuple[Where, str, CorruptFile] | None = None

    def foreign_line(self, where: Where, line: str) -> None:
        """A line that is no part of a table."""
        what = f"the file holds no table; its first line with words in it is {line[:40]!r}"
        self._count("lines", where, line[:40], where.corrupt(None, what))

    def row(self, where: Where, line: str, column: str | None, what: str) -> None:
        """A row of a table that `what` makes unusable: nan or 0.00 in `column`, or a row that was cut."""
        error = where.corrupt(column, f"{what}, and no other row can be used")
        self._count("rows", where, line[:40], error)

    def without_time(self, where: Where, line: str, column: str | None, word: str) -> None:
        """A row whose time is `word`: zero, or no number."""
        self.row(where, line, column, f"is {word[:20]}: there is no time for that")

    def cut_row(self, where: Where, line: str, error: CorruptFile) -> None:
        """A row with too few columns: `error` is raised if another row of its table follows, see `row_follows`."""
        self.row_follows()
        self._cut = (where, line, error)

    def cut(
        self, where: Where, line: str, words: Sequence[str], columns: Sequence[str], what: str
    ) -> bool:
        """Whether a row lacks `columns`, so that it is skipped as `cut_row` says; one with too many is an error."""
        if len(words) > len(columns):
            raise where.corrupt(None, what)
        if len(words) == len(columns):
            self.row_follows()
            return False
        self.cut_row(where, line, where.corrupt(columns[len(words)], what))
        return True

    def row_follows(self) -> None:
        """Raises the error of a row that was cut: what stands in the middle of a table is damage."""
        if self._cut is not None:
            raise self._cut[2]

    def end_table(self) -> None:
        """Skips the row that was cut, if there is one: it is the last one, where a job ended early."""
        if self._cut is not None:
            where, line, error = self._cut
            self._count("rows", where, line[:40], error)
            self._cut = None

    def table(self, where: Where, name: str, what: str) -> None:
        """A table of another test, with what there is to say about it."""
        self._count("tables", where, name[:60], where.corrupt("title", what))

    def _count(self, unit: str, where: Where, text: str, error: CorruptFile) -> None:
        self.counts[unit] = self.counts.get(unit, 0) + 1
        self.first.setdefault(unit, (where, text))
        self.errors.setdefault(unit, error)

    def warnings(self) -> tuple[Mapping[str, object], ...]:
        """One warning for each kind of what was left out."""
        self.end_table()
        return tuple(
            warning
            for unit, (where, text) in self.first.items()
            for warning in noted(
                self.counts[unit],
                unit,
                f"{_FACTS[unit]} were skipped (the first is line {where.line}, {text!r})",
                _REMEDIES[unit],
            )
        )

    def refuse_if_empty(self, records: Sized) -> None:
        """Raises CorruptFile that names what is in the file, where nothing of it could be imported."""
        self.end_table()
        for unit in ("rows", "tables", "lines"):
            if not records and unit in self.errors:
                raise self.errors[unit]


_FACTS = {
    "lines": "lines that belong to no table",
    "rows": "rows without a usable number",
    "tables": "tables of other tests",
}
_REMEDIES = {
    "lines": "check that the first one is no row of a table",
    "rows": "measure these sizes again if they matter",
    "tables": "nothing is to be done unless you wanted them",
}


@dataclass
class Paths:
    """What lines outside of tables say about where the processes of the next table ran."""

    last_place: str | None = None
    """"intra-node", "inter-node", ...; None where no line says it."""
    last_ranks: int | None = None
    """The number of ranks that the last command started; None where no command says it."""

    def read(self, line: str) -> None:
        """Notes what a line outside of the rows says about where the processes ran, and how many."""
        if match := _PLACES.search(line):
            where = match[1].lower()
            self.last_place = f"{_SAME_PLACE.get(where, where)}-{match[2].lower()}"
        elif (nodes := _nodes_of_command(line)) is not None:
            self.last_place = "intra-node" if nodes == 1 else "inter-node"
        if _COMMAND_TEST.search(line):
            match = _COMMAND_RANKS.search(line)
            self.last_ranks = as_integer(match[1], 1) if match else None


def _nodes_of_command(line: str) -> int | None:
    """On how many nodes a command such as `srun -N 2 osu_latency` starts a test; None where it says nothing of that.

    >>> _nodes_of_command("$ srun -N2 -n 2 ./osu_latency"), _nodes_of_command("srun -N 1 hostname")
    (2, None)
    """
    matches = list(_COMMAND_NODES.finditer(line))
    numbers = [as_integer(match["nodes"]) for match in matches if match["nodes"]]
    return numbers[0] if numbers and len(numbers) < len(matches) else None
