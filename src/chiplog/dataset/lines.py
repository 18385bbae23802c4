"""Checksummed JSON lines: how one object becomes one line of a run file, and back.

A line is a compact JSON object whose last member is `"crc32":"xxxxxxxx"`: the zlib CRC-32, in 8 lower-case hexadecimal
digits, of the line's bytes from `{` up to, not including, `,"crc32"`.

The lists of samples make up nearly all of a run file, and a JSON parser would make an object of each number. So the
long ones are taken out of the text and become arrays, and the short rest is parsed as JSON. Whatever looks unusual is
left to the plain parser, which says what is wrong with it; so are the short lists of many pairs.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chiplog.errors import CorruptFile
from chiplog.outside import LARGEST_INTEGER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_LINE_BYTES = 256 << 20
"""Longest line that is read; a longer one is refused before it is taken into memory."""

_TAIL = re.compile(rb',"crc32":"([0-9a-f]{8})"\}', re.DOTALL)
_TAIL_BYTES = len(',"crc32":"00000000"}')
SAMPLE_LISTS = ("samples_ns", "samples_ps")
BY_PAIR = "by_pair"

_LIST = re.compile(rb'"(samples_[np]s)":\[([0-9][0-9,]*)\]')
LONG_LIST_BYTES = 200
"""Given: bytes of text for each list of samples from which arrays are quicker than the parser's lists."""


class Where(NamedTuple):
    """A place in a file: lines count from 1; None where the file is one JSON document."""

    path: str
    line: int | None = None

    def corrupt(self, field: str | None, what: str) -> CorruptFile:
        """The error that names file, line and field and says `what` is wrong."""
        line = f", line {self.line}" if self.line is not None else ""
        named = f", field {field}" if field else ""
        return CorruptFile(f"{self.path}{line}{named}: {what}")


def other_separator(columns: Sequence[str]) -> str:
    """The end of a sentence about a CSV file without a column: what else seems to separate its columns."""
    only = columns[0] if len(columns) == 1 else ""
    names = {";": "semicolons", "\t": "tabs", "|": "|"}
    separator = next((name for mark, name in names.items() if mark in only), None)
    return f"; {separator} separate them, but commas should" if separator else ""


def encode_line(members: Mapping[str, object]) -> bytes:
    r"""One line, newline included, that holds `members` and their checksum.

    Raises ValueError for NaN and infinities, which JSON can't hold.

    >>> encode_line({"type": "footer", "records": 0})
    b'{"type":"footer","records":0,"crc32":"7088f169"}\n'
    """
    plain = {name: value for name, value in members.items() if name != "crc32"}
    body = json.dumps(plain, separators=(",", ":"), allow_nan=False).encode("ascii")[:-1]
    return b'%s,"crc32":"%08x"}\n' % (body, zlib.crc32(body))


def decode_line(line: bytes, where: Where) -> dict[str, object]:
    """The members of one line, without its checksum.

    Raises CorruptFile where the checksum is missing or another one, and where the line is no JSON object.
    """
    return as_object(parse_json(checked_body(line, where), where), where)


def checked_body(line: bytes, where: Where) -> bytes:
    """The JSON object that `line` holds, without its checksum, which is right; CorruptFile otherwise."""
    line = line.removesuffix(b"\n")
    if len(line) > MAX_LINE_BYTES:
        raise where.corrupt(None, f"the line is longer than {MAX_LINE_BYTES >> 20} MiB")
    tail = _TAIL.fullmatch(line, max(0, len(line) - _TAIL_BYTES))
    if tail is None and b"\0" in line:
        raise where.corrupt(None, "the line holds a zero byte: it is no text")
    if tail is None:
        raise where.corrupt("crc32", "the line does not end with a checksum: it was cut or altered")
    body = line[: tail.start()]
    expected, computed = tail[1].decode("ascii"), f"{zlib.crc32(body):08x}"
    if expected != computed:
        what = f"the checksum says {expected}, the bytes give {computed}: the line was altered"
        raise where.corrupt("crc32", what)
    return body + b"}"


def as_object(value: object, where: Where) -> dict[str, object]:
    """`value`, if it is a JSON object; CorruptFile otherwise."""
    if not isinstance(value, dict):
        raise where.corrupt(None, "the line is no JSON object")
    return value


def parse_json(text: bytes, where: Where) -> object:
    """Strict JSON in UTF-8: NaN, infinities and endless nesting are refused with CorruptFile."""
    if not text.strip():
        raise where.corrupt(None, "there is nothing in it")
    try:
        return _DECODER.decode(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise where.corrupt(None, f"byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise where.corrupt(None, "the JSON is nested too deeply") from None
    except ValueError as error:
        raise where.corrupt(None, f"no valid JSON: {error}") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that JSON knows")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:40]} is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def parse_record(text: bytes, where: Where) -> object:
    """The JSON object `text`; lists of samples are arrays of int64, shape (samples,), where they are sound and long."""
    if len(text) < LONG_LIST_BYTES * text.count(b'"samples_'):
        return parse_json(text, where)
    arrays: list[NDArray[np.int64]] = []

    def take(match: re.Match[bytes]) -> bytes:
        array = _integers(match[2])
        if array is None:
            return match[0]
        arrays.append(array)
        return b'"%s":"#%d"' % (match[1], len(arrays) - 1)

    rest = parse_json(_LIST.sub(take, text), where)
    return rest if _put_back(rest, arrays) else parse_json(text, where)


def _integers(digits: bytes) -> NDArray[np.int64] | None:
    import numpy as np

    if b",," in digits or digits.endswith(b","):
        return None
    array = np.fromstring(digits, dtype=np.int64, sep=",")
    return array if array.size == digits.count(b",") + 1 and array.max() < LARGEST_INTEGER else None


def _put_back(record: object, arrays: list[NDArray[np.int64]]) -> bool:
    """Replaces each mark by its array; False unless every array is a list of samples of one of the series."""
    series = record.get("series") if isinstance(record, dict) else None
    if not isinstance(series, list):
        return not arrays
    placed = 0
    for members, name in _sample_lists(series):
        if members[name] == f"#{placed}":
            if placed == len(arrays):
                return False
            members[name] = arrays[placed]
            placed += 1
    return placed == len(arrays)


def _sample_lists(parts: list[object]) -> Iterator[tuple[dict[str, object], str]]:
    """The lists of samples in their order, each as its object and name: of each series and of each of its pairs."""
    for members in parts:
        if not isinstance(members, dict):
            continue
        for name in list(members):
            if name in SAMPLE_LISTS:
                yield members, name
            elif name == BY_PAIR and isinstance(members[name], list):
                yield from _sample_lists(members[name])
