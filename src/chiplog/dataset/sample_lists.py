"""Reads the long lists of samples in a record line straight into arrays.

The lists make up nearly all of a run file, and a JSON parser would make an object of each number. Here they are taken
out of the text, the short rest is parsed as JSON, and the arrays are put in their places. Whatever looks unusual is
left to the plain parser, which says what is wrong with it; so are the short lists of many pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chiplog.dataset.lines import Where, parse_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLE_LISTS = ("samples_ns", "samples_ps")
BY_PAIR = "by_pair"

_LIST = re.compile(rb'"(samples_[np]s)":\[([0-9][0-9,]*)\]')
_LARGEST = 2**63 - 1
LONG_LIST_BYTES = 200
"""Bytes of text for each list of samples: with as many or more, arrays are quicker than the lists of the parser."""


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
    return array if array.size == digits.count(b",") + 1 and array.max() < _LARGEST else None


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
