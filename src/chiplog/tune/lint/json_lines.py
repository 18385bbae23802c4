"""JSON with the line of each value and key, for messages that name it; written for hostile files.

It keeps the order of keys, and keys that stand there twice. It does not recurse, so that deep nesting ends in a
sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from chiplog.outside import as_integer
from chiplog.tune.lint.rule import FileIgnored, quoted

MOST_DEPTH = 32
"""Given: json-c, which MPICH reads with, takes no deeper file, and no rules of Open MPI nest so deep."""
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\n)
    |(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    |(?P<word>true|false|null)
    |(?P<mark>[{}\[\],:])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass
class Member:
    """A key, its line, and its value."""

    key: str
    line: int
    value: JsonValue


@dataclass
class JsonValue:
    """A JSON value and the line where it begins."""

    kind: str
    """`object`, `array`, `string`, `number` or `word`."""
    line: int
    text: str = ""
    """Of a string its characters; of a number or word its letters."""
    members: list[Member] = field(default_factory=list)
    """Of an object, in the file's order; of an array with empty keys."""

    @property
    def integer(self) -> int | None:
        """The number, where it is whole."""
        return as_integer(self.text) if self.kind == "number" else None

    def get(self, key: str) -> JsonValue | None:
        """The value of a key, the last one of several; None where there is none."""
        values = [member.value for member in self.members if member.key == key]
        return values[-1] if values and self.kind == "object" else None


@dataclass
class _JsonToken:
    kind: str
    text: str
    line: int


def parse_json(text: str) -> JsonValue:
    """The value that the text holds; FileIgnored where it is no JSON, or nested deeper than MOST_DEPTH."""
    tokens = _tokens(text)
    root: JsonValue | None = None
    open_values: list[JsonValue] = []
    last = 1
    while True:
        token = next(tokens, None)
        if token is None:
            break
        last = token.line
        if root is not None and not open_values:
            raise FileIgnored(
                token.line, f"{quoted(token.text)} stands behind the end of the object"
            )
        if open_values and token.text == _closing(open_values[-1]) and token.kind == "mark":
            open_values.pop()
            _after_value(tokens, open_values)
            continue
        key, key_line = "", token.line
        if open_values and open_values[-1].kind == "object":
            key, token = _key(token, tokens)
        value = _value(token)
        if open_values:
            open_values[-1].members.append(Member(key, key_line, value))
        else:
            root = value
        if value.kind in ("object", "array"):
            open_values.append(value)
            if len(open_values) > MOST_DEPTH:
                raise FileIgnored(token.line, f"it is nested deeper than {MOST_DEPTH} levels")
        elif open_values:
            _after_value(tokens, open_values)
    if root is None or open_values:
        raise FileIgnored(last, "the file ends before its JSON does: it is truncated")
    return root


def _closing(value: JsonValue) -> str:
    return "}" if value.kind == "object" else "]"


def _after_value(tokens: Iterator[_JsonToken], open_values: list[JsonValue]) -> None:
    """Reads what stands between values: a comma, or the ends of those that are open."""
    while open_values:
        token = next(tokens, None)
        if token is None:
            raise FileIgnored(
                open_values[-1].line,
                f"the {open_values[-1].kind} that begins here has no end: the file is truncated",
            )
        if token.kind == "mark" and token.text == ",":
            return
        if token.kind != "mark" or token.text != _closing(open_values[-1]):
            raise FileIgnored(token.line, f"it is no JSON: {quoted(token.text)} is not expected")
        open_values.pop()


def _key(token: _JsonToken, tokens: Iterator[_JsonToken]) -> tuple[str, _JsonToken]:
    if token.kind != "string":
        raise FileIgnored(token.line, f"it is no JSON: {quoted(token.text)} stands for a key")
    colon, value = next(tokens, None), next(tokens, None)
    if value is None:
        raise FileIgnored(token.line, "the file ends within this key: it is truncated")
    if colon is None or colon.text != ":" or colon.kind != "mark":
        raise FileIgnored(token.line, f"it is no JSON: no colon behind {quoted(token.text)}")
    return _string(token), value


def _value(token: _JsonToken) -> JsonValue:
    if token.kind == "mark" and token.text in "{[":
        return JsonValue("object" if token.text == "{" else "array", token.line)
    if token.kind == "mark":
        raise FileIgnored(token.line, f"it is no JSON: {quoted(token.text)} is not expected")
    text = _string(token) if token.kind == "string" else token.text
    return JsonValue(token.kind, token.line, text)


def _string(token: _JsonToken) -> str:
    try:
        return str(json.loads(token.text, strict=False))
    except ValueError as error:
        raise FileIgnored(token.line, f"it is no JSON: {quoted(token.text)}") from error


def _tokens(text: str) -> Iterator[_JsonToken]:
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FileIgnored(line, _no_token(text, at))
        kind = match.lastgroup or ""
        if kind not in ("space", "comment"):
            yield _JsonToken(kind, match[0], line)
        line += match[0].count("\n")
        at = match.end()


def _no_token(text: str, at: int) -> str:
    rest = text[at:].partition("\n")[0]
    if rest.startswith('"'):
        return f"the string {quoted(rest)} has no end: the file is truncated or no JSON"
    return f"it is no JSON: {quoted(rest)}"
