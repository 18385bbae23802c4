"""Files of other tools where one of chiplog's own is needed, or a file of another importer: what they are, what to do.

Importers know their own files by `sign`. Of tools that have no importer, those whose output can be recognised are
named here, so that nobody looks for the fault in the file.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chiplog.dataset.importer import IMPORTERS, Importer
from chiplog.errors import CorruptFile, UsageError
from chiplog.file_kind import COMPRESSED, kind_of, regular_head
from chiplog.file_kind import expecting as expecting_own

HEAD_BYTES = 1 << 20
"""How much of a file is searched for a tool's sign."""
TOOLS = {
    "sockperf": r"^sockperf: ",
    "iperf3": r"^iperf Done\.|^\[ *ID\] Interval +Transfer +Bitrate\b|\"version\":\s*\"iperf 3",
    "iperf": r"^\[ *ID\] Interval +Transfer +Bandwidth\b|^Client connecting to .*, (?:TCP|UDP) port \d+",
    "netperf": r"^(?:MIGRATED |OMNI )?(?:TCP|UDP|SCTP|DG|STREAM)[ _][\w/ ]*(?:TEST|Send) (?:from|TEST)\b",
    "ping": r"^\d+ bytes from .*\b(?:icmp_)?seq=\d+",
    "nuttcp": r"^\s*[\d.]+ MB / +[\d.]+ (?:sec|real) = +[\d.]+ Mbps",
    "ntttcp": r"^NTTTCP for Linux|#+ Totals: #+",
    "wrk": r"^Running \S+ test @ http",
    "SKaMPI": r"^# ?SKaMPI\b|^begin result \"",
    "ReproMPI": r"^#@?\s*reproMPI",
    "b_eff": r"^b_eff\b.*=\s*[\d.]+ MB/s",
    "HPC Challenge": r"^Begin of MPI(?:Random|FFT)?\w* section|^MaxPingPongLatency_usec=",
    "nvbandwidth": r"^nvbandwidth Version",
    "NVIDIA's p2pBandwidthLatencyTest": r"^\[P2P \(Peer-to-Peer\) GPU Bandwidth Latency Test\]",
    "NVSHMEM's perftest": r"^#?\s*nvshmem|\bshmem_\w+_(?:bw|latency)\b",
    "ucc_perftest": r"^Collective:\s+\S+\s*\r?\n(?:.*\n)*?Memory type:",
    "mpptest": r"^#?\s*set default font|^#p0\s+p1\s+dist\s+len",
    "Sandia's msgrate": r"^single direction:\s+[\d.]+",
    "fio": r"^fio-\d+\.\d+",
    "STREAM": r"^STREAM version",
}
"""Tools whose output has no importer, each with a line that only it prints."""
OWN_SUFFIXES = (".jsonl", ".json", ".goal")
"""What chiplog's own files are called: such a file is damaged, not another tool's, unless it bears a tool's sign."""
TWO_WORDS = r"\w{2,}[ \t,;]+\w{2,}"
"""What the text of any tool has, and the rest of a damaged file has not."""
OWN_SIGN = r'"chiplog|"crc32|"schema"'
CSV_COLUMNS = "pattern,message_bytes,seconds"
CSV_EXAMPLE = "ping_pong,8,1.5e-06"


def csv_advice() -> str:
    """How a table that no importer reads becomes a run file: the three columns, a row of them, and the command.

    >>> "pattern,message_bytes,seconds" in csv_advice()
    True
    """
    return (
        f"a CSV file of three columns would do, one time a row: {CSV_COLUMNS} (the header line), "
        f"{CSV_EXAMPLE} (a row), read by chiplog import csv FILE.csv --direction one-way (or round-trip) -o RUN.jsonl"
    )


def tool_of(text: str) -> str | None:
    """The tool without an importer that printed `text`; None where it can't be recognised."""
    for name, sign in TOOLS.items():
        if re.search(sign, text, re.MULTILINE):
            return name
    return None


def importer_of(text: str) -> Importer | None:
    """The importer whose sign `text` bears."""
    for importer in IMPORTERS.all():
        if importer.sign and re.search(importer.sign, text, re.MULTILINE):
            return importer
    return None


@contextmanager
def expecting(wanted: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns CorruptFile into UsageError that says what to do, where the file is one of another kind or tool.

    `wanted` is a kind of `chiplog.file_kind`.
    """
    try:
        yield
    except CorruptFile as error:
        kind, text = kind_of(path), head_of(path)
        # Importers read compressed tables.
        is_table = kind is None or (kind[0] == COMPRESSED and text and importer_of(text))
        advice = _advice(path) if is_table else None
        if advice is None:
            with expecting_own(wanted, path):
                raise
        name = os.fspath(path)
        raise UsageError(f"{name} is not {wanted}{advice}.") from error


def import_command(importer: Importer, path: str | os.PathLike[str]) -> str:
    """The command line that would import `path` into the current folder."""
    given = os.fspath(path)
    name = Path(given).name
    run = f"{name.split('.')[0] or name}.jsonl"
    more = " --direction one-way" if importer.name == "csv" else ""
    return f"chiplog import {importer.name} {shlex.quote(given)}{more} -o {shlex.quote(run)}"


def _advice(path: str | os.PathLike[str]) -> str | None:
    """The end of a sentence that says what a file is and what to do; None where it may be a damaged one of chiplog."""
    text = head_of(path)
    if text is None:
        return None
    if (importer := importer_of(text)) is not None:
        command = import_command(importer, path)
        return f", but looks like one for the importer {importer.name}; import it first: {command}"
    if (tool := tool_of(text)) is not None:
        return f", but {tool}'s output, which has no importer: {csv_advice()}"
    is_own = Path(path).suffix in OWN_SUFFIXES or re.search(OWN_SIGN, text) is not None
    if is_own or re.match(r"\s*\{", text) or not re.search(TWO_WORDS, text):
        return None
    return f"; a table must be imported first (chiplog import --help lists the kinds); of another tool, {csv_advice()}"


def head_of(path: str | os.PathLike[str]) -> str | None:
    """The beginning of a text file, unpacked; None of what is no text, and of what can't be read again, as a pipe.

    Of an archive, the names of the files that begin in it.
    """
    try:
        head = regular_head(path, HEAD_BYTES)
        if head[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                head = packed.read(HEAD_BYTES)
    except (OSError, EOFError, zlib.error):
        return None
    if head[257:262] == b"ustar":
        return head[:100].rstrip(b"\0").decode("utf-8", errors="replace")
    utf_16 = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = head.decode("utf-16" if utf_16 else "utf-8", errors="replace")
    return None if "\0" in text or not text.strip() else text
