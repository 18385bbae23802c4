"""Names of models, methods and quantities, and how a protocol change is put in words."""

from __future__ import annotations

import re
from itertools import pairwise

from chiplog.dataset.operations import NORMAL, operation_text
from chiplog.fitting.quantities.by_method import ONE_TO_MANY, PAIR_METHODS
from chiplog.fitting.result import Fit
from chiplog.models.registry import find_model
from chiplog.protocol_changes.change import Change
from chiplog.report.document import Inline, Span, joined, line, plain, symbol
from chiplog.report.format import NOTHING, exact_bytes, message_size, signed_percent

METHODS = {
    "prtt": "PRTT",
    "culler": "Culler",
    "kielmann": "Kielmann",
    "bell": "Bell",
    ONE_TO_MANY: "1:n n:1",
}
KINDS = {"jump": "jump", "slope": "slope", "both": "jump and slope"}
QUANTITIES = {
    "half_round_trip": "half round trip",
    "gap": "gap",
    "late_receiver": "late receiver",
    "flood": "flood",
    "ping_pong": "ping-pong",
    "send_overhead": "send overhead",
    "receive_overhead": "receive overhead",
    "o_s": "send overhead o_s",
    "o_r": "receive overhead o_r",
    "one_to_many": "one to many",
    "pairs": "pairs",
}
SYMBOLS = (
    *("L_half", "L", "o_s", "o_r", "g", "G", "O_s", "O_r", "O", "S", "alpha", "R", "n_half"),
    *("f", "f_argmin", "o_min", "o_max", "s0", "R_C", "R_Cb", "R_Ci", "R_N", "k_sat"),
    *("s_k", "G_k", "g_N"),
)
TERMS = frozenset({*SYMBOLS, "gap", "half_round_trip"})
"""Symbols and quantities that the glossary explains."""


def model_name(model: str) -> str:
    """A model's name as its authors write it."""
    known = find_model(model)
    return model if known is None else known.label


def method_name(method: str) -> str:
    """A method's name as this field writes it."""
    return METHODS.get(method, method)


def fit_name(fit: Fit) -> str:
    """Model and method, and of which series where these may be of several kinds.

    "LogGP (PRTT)", "max-rate (k=all, n0 to n1, round-robin)".
    """
    kind = [method_name(fit.method)]
    if (fit.operation, fit.posting) != ("send", NORMAL) and fit.between is None:
        kind.append(operation_text(fit.operation, fit.posting))
    if fit.between is not None:
        kind.append(" to ".join(fit.between))
    if fit.convention == "one-way":
        kind.append("one-way")
    if fit.placement not in (None, "filled", "none", "list", "launcher"):
        kind.append(str(fit.placement))
    return f"{model_name(fit.model)} ({', '.join(kind)})"


def launches_text(launches: int) -> str:
    """What an interval can speak of: "of this launch", or "over 5 launches"."""
    return "of this launch" if launches < 2 else f"over {launches} launches"


def intervals_text(fit: Fit) -> str:
    """What the intervals of a fit are of, to stand behind that word, with a space before; nothing where unknown."""
    return "" if fit.launches is None else f" {launches_text(fit.launches)}"


def of_pairs(method: str) -> bool:
    """Does the method fit models to k pairs?"""
    return method in PAIR_METHODS


def of_many(method: str) -> bool:
    """Does the method fit models to one process to many, or to k pairs? They have sections of their own."""
    return of_pairs(method) or method == ONE_TO_MANY


def quantity(name: str) -> Inline:
    """A measured quantity in words, linked to the glossary."""
    term = name if name in TERMS else None
    if name in ("o_s", "o_r"):
        return (symbol(name, term=term),)
    return (plain(QUANTITIES.get(name, name), term=term),)


def parameter_symbol(name: str) -> Span:
    """A parameter's symbol, linked to the glossary where that has it."""
    return symbol(name, term=name if name in TERMS else None)


def sizes(first_bytes: float, last_bytes: float) -> str:
    """A range of message sizes: "1 B to 4 KiB"."""
    if first_bytes == last_bytes:
        return message_size(first_bytes)
    return f"{message_size(first_bytes)} to {message_size(last_bytes)}"


def place(change: Change) -> str:
    """Where a change is: "above 4,096 B" to the byte, else "between 8,192 B and 16,384 B"."""
    if change.first_after_bytes - change.last_before_bytes <= 1:
        return f"above {exact_bytes(change.last_before_bytes)}"
    low, high = exact_bytes(change.last_before_bytes), exact_bytes(change.first_after_bytes)
    return f"between {low} and {high}"


def slope_changes(fit: Fit) -> list[str]:
    """Where the cost of a byte changes within a protocol: "between 1,024 B and 1,448 B", one for each such border."""
    return [
        f"between {exact_bytes(before.last_bytes)} and {exact_bytes(after.first_bytes)}"
        for before, after in pairwise(fit.segments)
        if after.border == "slope"
    ]


def short_place(change: Change) -> str:
    """As `place`, for a narrow cell: "4,096 B" or "8,192 … 16,384 B"."""
    if change.first_after_bytes - change.last_before_bytes <= 1:
        return exact_bytes(change.last_before_bytes)
    return f"{change.last_before_bytes:,} … {exact_bytes(change.first_after_bytes)}"


def kind(change: Change) -> str:
    """What kind of change it is, in words."""
    return KINDS.get(change.kind, change.kind)


def jump(change: Change) -> str:
    """How much the time jumps: "+38 %", and from a factor of 3 on "×59"."""
    relative = change.relative_jump
    if relative is not None and relative >= 2:
        return f"×{1 + relative:,.3g}"
    return signed_percent(relative)


def seen_in(change: Change) -> Inline:
    """The series that show a change."""
    return joined(map(quantity, change.seen_in), ", ") or line(NOTHING)


def identifier(*parts: object) -> str:
    """An identifier that is safe in an address and as an element's id, from any text."""
    text = "-".join(str(part) for part in parts)
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "part"


def moment(created: str) -> str:
    """A moment for people: "2026-01-05 10:20:30 UTC"; what is no ISO 8601 in UTC stays as it is."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", created)
    return f"{match[1]} {match[2]} UTC" if match else created
