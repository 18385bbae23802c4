"""What the probe refuses, in the words of the command line: it names fields of requests, which nobody types."""

from __future__ import annotations

import re

from chiplog.plugins import did_you_mean

OPTIONS = {
    "pattern": "--pattern",
    "operation": "--operation",
    "posting": "--posting",
    "message_bytes": "--sizes",
    "peers": "--ranks",
    "pairs": "--ranks",
}
"""The option by which a field of a series is chosen; others are chosen by the plan itself."""
SIM_NEVER_WAITS = "sends never wait for receives on sim"
SIM_REMEDY = "; name the size above which they wait, as in sim:S=8KiB"
_FIELD = re.compile(r"^field 'series\[\d+\]\.(\w+)' ?:?")

_TRANSPORT = re.compile(r"unknown transport '(.*?)'; this probe has ([\w, -]+)")


def in_options(sentence: str) -> str:
    """The probe's sentence with the option in the field's place, and with a full stop.

    >>> in_options("field 'series[0].posting' accepts normal on tcp, which posts no lists")
    '--posting: accepts normal on tcp, which posts no lists.'
    """
    if transport := _TRANSPORT.match(sentence):
        name, listed = transport.groups()
        return f"{sentence.rstrip('.')}.{did_you_mean(name, listed.split(', '))}"
    known = _FIELD.match(sentence)
    option = OPTIONS.get(known[1]) if known else None
    if known is None or option is None:
        return sentence if sentence.endswith((".", "?")) else f"{sentence}."
    words = sentence[known.end() :].strip().rstrip(".")
    remedy = SIM_REMEDY if words.endswith(SIM_NEVER_WAITS) else ""
    return f"{option}: {words}{remedy}."
