"""What a launcher said that explains why ranks did not start: the first such sentence, not the last.

Launchers frame a message with lines of dashes, break its sentences at 80 columns, put where in their sources it arose
before it, and end with what only follows from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

SHORTEST_FRAME = 10
"""Given: characters of a line of dashes that begins or ends a message."""
MOST_CHARACTERS = 240
"""Given: characters of a sentence that are shown."""
_TELLING = re.compile(
    r"signal|error|fail|lost|refused|denied|unable|can't|cannot|could not|unrecognized|unknown|invalid|illegal|"
    r"no such|not found|not enough|missing|exceed",
    re.IGNORECASE,
)
TITLE_END = " ***"
"""How Open MPI ends lines that only announce that a signal is named, or that all was said."""
_FRAME = re.compile(r"[-=*_#\s]*")
_PLACE = re.compile(r"^(\[[^\]\s]+\] )?\w+ \([^()\s]+:\d+\): ")


REMEDIES = {
    "attempt to run as root": "allow it: mpirun --allow-run-as-root, or set OMPI_ALLOW_RUN_AS_ROOT and "
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM to 1",
    "not enough slots": "start fewer ranks, or allow more than there are slots: mpirun --map-by :OVERSUBSCRIBE",
}
"""What to do about words of launchers that don't say it shortly themselves."""


def first_words(text: str) -> str:
    """The first sentence that tells what is wrong, else the first that there is; empty where nothing was said.

    Where a remedy is known, it follows.
    """
    sentences = [
        sentence
        for sentence in _sentences(text)
        if any(map(str.isalpha, sentence)) and not sentence.endswith(TITLE_END)
    ]
    telling = [sentence for sentence in sentences if _TELLING.search(sentence)]
    said = _short((telling or sentences or [""])[0])
    remedy = next((REMEDIES[words] for words in REMEDIES if words in said), None)
    return f"{said}; {remedy}" if remedy else said


def _sentences(text: str) -> Iterator[str]:
    """Single lines; in a frame, a sentence may go on over several, and one that ends with a colon into the next."""
    for is_framed, lines in _parts(text):
        if not is_framed:
            yield from (_PLACE.sub("", line) for line in lines if line)
            continue
        words = ""
        for line in lines:
            if not line and not words.endswith(":"):
                yield words
                words = ""
            words = f"{words} {line}".strip()
            if line.endswith((".", "!", "?")):
                yield words
                words = ""
        yield words


def _parts(text: str) -> Iterator[tuple[bool, Sequence[str]]]:
    """Lines between two frames, and those outside; JSON lines of a probe are nobody's words."""
    lines: list[str] = []
    is_framed = False
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith('{"'):
            continue
        if len(line) >= SHORTEST_FRAME and _FRAME.fullmatch(line):
            yield is_framed, lines
            is_framed, lines = not is_framed, []
        else:
            lines.append(line)
    yield is_framed, lines


def _short(sentence: str) -> str:
    words = sentence.rstrip(".")
    if len(words) <= MOST_CHARACTERS:
        return words
    return words[:MOST_CHARACTERS].rpartition(" ")[0] + " ..."
