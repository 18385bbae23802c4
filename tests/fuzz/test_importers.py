"""Files of other tools, damaged at random: each is imported as a valid run, or refused in one sentence.

A few examples of each kind by default; CHIPLOG_TEST_LONG=1 tries many.
"""

from __future__ import annotations

import atexit
import functools
import os
import random
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from netgauge_files import PRINTED, SAMPLES, SUMMARY, VERBOSE
from new_tools_files import NEW_FILES, PICO_FILES, PICO_METADATA, PICO_STAMP, pico_archive
from other_tools_files import (
    FILES,
    NP_OUT_5,
    NPMPI_5,
    NPTCP,
    OLD_ALL_REDUCE,
    OLD_BROADCAST,
    SEND_LATENCY,
)
from smptest_files import MINIMUM, OVERLAP, PARTNERS, SMPTEST

from chiplog.dataset.importer import IMPORTERS
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.errors import CorruptFile, UsageError

EXAMPLES = 2000 if os.environ.get("CHIPLOG_TEST_LONG") else 25
PATIENT = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
OSU_LATENCY = """0: # OSU MPI-CUDA Latency Test v5.9
0: # Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)
0: # Size          Latency (us)
srun: warning: can't run 1 process on 2 nodes
0: 0                       1.10
0: 8                       0.00
0: 1024                    3.00
# OSU MPI Multi Latency Test v7.0
# [ pairs: 2 ]
8   1.25
"""
OSU_RATES = """# OSU MPI Bandwidth Test v5.9
8                       40.10
1024                    3000.00
# OSU MPI Multiple Bandwidth / Message Rate Test v5.7
# [ pairs: 15 ] [ window size: 64 ]
1                       6.39        6385003.80
# OSU MPI_Get Latency Test v5.9
# Synchronization: MPI_Win_flush
8                       2.50
# OSU MPI Allreduce Latency Test v5.9
8                       12.50
"""
OSU_TAILS = """[1,0]<stdout>: OSU MPI Latency Test v7.4[1,0]<stdout>:\\# Size  Avg Latency(us)  P50 Tail Lat(us)
[1,0]<stdout>:8     1.61   1.55[1,0]<stdout>:64    1.75   1.70
[1,0]<stdout>:128   1.8[1,0]<stdout>:0   1.75
"""
OSU_SIDE_BY_SIDE = """# OSU MPI Latency Test v7.2    # OSU MPI Bandwidth Test v7.2
# Size       Latency (us)      # Size       Bandwidth (MB/s)
0            0.28
8            0.31              8            40.10
                               1024         3000.00
"""
IMB = """# Benchmarking PingPong
# #processes = 2
 #bytes #repetitions      t[usec]   Mbytes/sec
      0         1000         2.23         0.00
   1024         1000         3.50       292.57
# Benchmarking Multi-PingPong
# ( 2 groups of 2 processes each running simultaneous )
 Group        #bytes #repetitions      t[usec]   Mbytes/sec
     0             0         1000         1.50         0.00
     1             0         1000         1.75         0.00
# Benchmarking Allreduce
 #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
      0         1000         0.10         0.12         0.11
"""
SOURCES = (
    *FILES.items(),
    ("perftest", SEND_LATENCY.replace(" 2       1000", "#, usec\n1, 0.81\n2, 0.84\n 2       1000")),
    ("netpipe", NP_OUT_5),
    ("netpipe", NPTCP),
    ("netpipe", NPMPI_5),
    ("nccl-tests", OLD_ALL_REDUCE),
    ("nccl-tests", OLD_BROADCAST),
    ("nccl-tests", "".join(f"{line:120} | {line}\n" for line in OLD_BROADCAST.splitlines()[7:])),
    ("osu", OSU_LATENCY),
    ("osu", OSU_RATES),
    ("osu", OSU_TAILS),
    ("osu", OSU_SIDE_BY_SIDE),
    ("imb", IMB),
    ("nodecomm", "Hops: 3\n1\t4.00e-06\t4.34e-06\t\n2\t3.98e-06\t4.26e-06\t\n"),
    ("netgauge", "# size n\n1 10 13.564364 23.296190 145.577438 6.78 1.1 1.13 -nan -nan -nan\n"),
    *(("smptest", text) for text in (SMPTEST, f"Hops: 3\n{MINIMUM}$ ./smptest -nb\n{MINIMUM}")),
    *(("nodecomm", text) for text in (PARTNERS, OVERLAP)),
    *(("netgauge", text) for text in (SAMPLES, SUMMARY, VERBOSE, PRINTED)),
    (
        "simgrid-calibration",
        "MPI_Send,8,1.0,2.5e-06\nMPI_Recv,8,1.0,3e-06\nMPI_Send,9,1.1,2e-06\nMPI_Recv,9,1.1,3e-06\n",
    ),
    ("csv", "pattern,message_bytes,pairs,seconds\nflood,8,1,1.5e-06\nflood,8,1,1.7e-06\n"),
    *NEW_FILES,
)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp037")
WORDS = (
    *(
        "nan",
        "-nan",
        "inf",
        "-1",
        "0",
        "0.00",
        "1e400",
        "9" * 40,
        "1_0",
        "٣",
        "é",
        "#",
        ":",
        "[",
        "]",
    ),
    *(
        "-->",
        "\x1b[31m",
        "\x00",
        "\t",
        ",",
        "out-of-mem.;",
        "N/A",
        "%s%n",
        "1e-320",
        "0x10",
        "+5",
        "--",
    ),
)
DAMAGES = (
    "truncate", "flip", "shuffle", "swap", "digit", "word", "repeat", "delete", "join", "crlf"
)  # fmt: skip


@functools.cache
def place() -> Path:
    path = tempfile.mkdtemp(prefix="chiplog-fuzz-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def damaged(text: str, kind: str, seed: int) -> str:
    """`text` with one thing wrong; what and where, `seed` says."""
    chosen = random.Random(seed)
    lines = text.splitlines(keepends=True) or [""]
    at = chosen.randrange(len(lines))
    words = re.split(r"(\s+|,)", lines[at])
    if kind == "truncate":
        return text[: chosen.randrange(len(text) + 1)]
    if kind == "crlf":
        return text.replace("\n", chosen.choice(["\r\n", "\r", "\n\n", " \n", "\v"]))
    if kind == "shuffle":
        chosen.shuffle(lines)
    elif kind == "swap":
        i, j = chosen.randrange(len(words)), chosen.randrange(len(words))
        words[i], words[j] = words[j], words[i]
    elif kind == "word":
        words[chosen.randrange(len(words))] = chosen.choice(WORDS)
    elif kind == "repeat":
        lines.insert(chosen.randrange(len(lines) + 1), lines[at])
    elif kind == "delete":
        del words[chosen.randrange(len(words))]
    elif kind == "join":
        words = [lines[at].rstrip("\n"), " "]
    elif kind == "digit":
        words = [re.sub(r"\d", lambda _: str(chosen.randrange(10)), lines[at])]
    if kind not in ("shuffle", "repeat"):
        lines[at] = "".join(words)
    return "".join(lines)


def flipped(content: bytes, seed: int) -> bytes:
    if not content:
        return content
    chosen = random.Random(seed)
    changed = bytearray(content)
    changed[chosen.randrange(len(changed))] ^= 1 << chosen.randrange(8)
    return bytes(changed)


damages = st.lists(
    st.tuples(st.sampled_from(DAMAGES), st.integers(min_value=0, max_value=1 << 30)),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize(("kind", "text"), SOURCES, ids=[kind for kind, _ in SOURCES])
@PATIENT
@given(changes=damages, encoding=st.sampled_from(ENCODINGS), encoded=st.integers(0, 4))
def test_a_damaged_file_is_imported_as_a_valid_run_or_refused_in_one_sentence(
    kind: str, text: str, changes: list[tuple[str, int]], encoding: str, encoded: int
) -> None:
    for damage, seed in changes:
        if damage != "flip":
            text = damaged(text, damage, seed)
    content = text.encode(encoding if encoded == 0 else "utf-8", "replace")
    for damage, seed in changes:
        if damage == "flip":
            content = flipped(content, seed)
    check(kind, content)


@pytest.mark.parametrize("kind", IMPORTERS.built_in)
@pytest.mark.parametrize("other", SOURCES, ids=[kind for kind, _ in SOURCES])
def test_a_file_of_another_tool_is_refused_or_read(kind: str, other: tuple[str, str]) -> None:
    """np.out of NetPIPE and LinkTest's list are rows of numbers, which another tool's may be, too."""
    check(kind, other[1].encode())


def check(kind: str, content: bytes) -> None:
    source, out = place() / "source", place() / "run.jsonl"
    source.write_bytes(content)
    out.unlink(missing_ok=True)
    notes: list[str] = []
    sentence = outcome(kind, source, out, notes)
    if sentence:
        assert str(source) in sentence and ", line " in sentence
        assert "\n" not in sentence and len(sentence) < 600
        assert not out.exists()
        return
    run = read_run(out)
    assert run.series
    assert all((one.seconds > 0).all() or kind not in SUMMARIES for one in run.series)
    assert all("\n" not in note for note in notes)


def outcome(kind: str, source: Path, out: Path, notes: list[str]) -> str:
    """The sentence with which a file is refused; empty where it is imported. Other errors pass."""
    direction = "round-trip" if kind == "csv" else None
    pattern = "alltoall" if kind == "ompi-collectives-tuning" else None
    try:
        import_file(kind, source, out, pattern=pattern, direction=direction, note=notes.append)
    except (CorruptFile, UsageError) as error:
        return str(error)
    return ""


@PATIENT
@given(
    changes=damages,
    chosen=st.integers(0, len(PICO_FILES)),
    stamp=st.sampled_from((PICO_STAMP, "x")),
)
def test_a_damaged_archive_is_imported_as_a_valid_run_or_refused_in_one_sentence(
    changes: list[tuple[str, int]], chosen: int, stamp: str
) -> None:
    """One of its files or its metadata is damaged, or bytes of the archive itself."""
    names = list(PICO_FILES)
    texts = [*PICO_FILES.values(), PICO_METADATA]
    for damage, seed in changes:
        if damage != "flip":
            texts[chosen] = damaged(texts[chosen], damage, seed)
    content = pico_archive(dict(zip(names, texts, strict=False)), stamp)
    for damage, seed in changes:
        if damage == "flip":
            content = flipped(content, seed)
    metadata = place() / "machine_metadata.csv"
    metadata.write_text(texts[-1])
    try:
        check("pico", content)
    finally:
        metadata.unlink()


SUMMARIES = (
    *("osu", "imb", "perftest", "netpipe", "nccl-tests", "mpigraph", "linktest"),
    *("fabtests", "ucx-perftest", "qperf", "gpcnet", "pico", "ompi-collectives-tuning"),
)
