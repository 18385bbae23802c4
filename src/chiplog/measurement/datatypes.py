"""What collective operations move: MPI's datatypes, of which an MPI's default and its algorithms' times may depend."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.errors import UsageError

DATATYPE_BYTES = {"double": 8, "int": 4, "byte": 1}
"""Given: MPI_DOUBLE, MPI_INT and MPI_BYTE; reductions add doubles and ints, and join bytes by bitwise or."""
BYTE = "byte"


def parse_datatypes(text: str) -> tuple[str, ...]:
    """The datatypes in a list such as "double,int", the largest first; UsageError for another name.

    >>> parse_datatypes("int,double")
    ('double', 'int')
    """
    names = {find_datatype(name.strip()) for name in text.split(",")}
    return tuple(name for name in DATATYPE_BYTES if name in names)


def find_datatype(name: str) -> str:
    """The name, where it is that of a datatype; else UsageError."""
    if name not in DATATYPE_BYTES:
        accepted = ", ".join(DATATYPE_BYTES)
        raise UsageError(f"--type: '{name[:40]}' is unknown; it accepts {accepted}.")
    return name


def whole_datatypes(datatypes: Sequence[str], message_bytes: int) -> tuple[str, ...]:
    """The datatypes that fill a message without a rest; UsageError where none of them does.

    >>> whole_datatypes(("double", "int", "byte"), 4)
    ('int', 'byte')
    """
    whole = tuple(name for name in datatypes if message_bytes % DATATYPE_BYTES[name] == 0)
    if not whole:
        least = min(datatypes, key=DATATYPE_BYTES.__getitem__)
        raise UsageError(
            f"{message_bytes} B are no whole number of {least}s, of {DATATYPE_BYTES[least]} B each; give another size "
            "or --type."
        )
    return whole
