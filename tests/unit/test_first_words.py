"""What launchers really print when ranks can't start, and the sentence that a reader needs of it."""

from __future__ import annotations

import pytest

from chiplog.benchmarking.launched import read_launch
from chiplog.errors import RunFailed
from chiplog.measurement.first_words import MOST_CHARACTERS, first_words
from chiplog.measurement.run_to_end import run_to_end

DASHES = "-" * 74
CASES = {
    "an option, in a frame, with a colon": (
        f"{DASHES}\nAn unrecognized option was included on the mpirun command line:\n\n  Option: --bogus\n\n"
        f'Please use the "mpirun --help" command to obtain a list of all\nsupported options.\n{DASHES}\n',
        "An unrecognized option was included on the mpirun command line: Option: --bogus",
    ),
    "a sentence over lines": (
        f"{DASHES}\nThere are not enough slots available in the system to satisfy the 64\nslots that were requested "
        f"by the application:\n\n  probe\n\nEither request fewer procs.\n{DASHES}\n",
        "There are not enough slots available in the system to satisfy the 64 slots that were requested by the "
        "application: probe; start fewer ranks, or allow more than there are slots: mpirun --map-by :OVERSUBSCRIBE",
    ),
    "root": (
        f"{DASHES}\nmpirun has detected an attempt to run as root.\n\n"
        f"Running as root is *strongly* discouraged.\n{DASHES}\n",
        "mpirun has detected an attempt to run as root; allow it: mpirun --allow-run-as-root, or set "
        "OMPI_ALLOW_RUN_AS_ROOT and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM to 1",
    ),
    "places in sources": (
        "[mpiexec@vm] match_arg (utils/args/args.c:163): unrecognized argument bogus\n"
        "[mpiexec@vm] HYDU_parse_array (utils/args/args.c:178): argument matching returned error\n",
        "unrecognized argument bogus",
    ),
    "a crash": (
        "[n03:26161] *** Process received signal ***\n[n03:26161] Signal: Segmentation fault (11)\n"
        "[n03:26161] [ 0] /lib/libc.so.6(+0x3c050)\n[n03:26161] *** End of error message ***\n",
        "[n03:26161] Signal: Segmentation fault (11)",
    ),
    "what follows comes last": (
        "srun: error: n03: task 1: Exited with exit code 7\nsrun: error: Terminating StepId=12.0\n",
        "srun: error: n03: task 1: Exited with exit code 7",
    ),
    "a greeting": (
        "Welcome to the cluster\nslurmstepd: error: no such file\n",
        "slurmstepd: error: no such file",
    ),
    "nothing that tells": ("first\nsecond\n", "first"),
    "a probe's lines": ('{"type":"header"}\n', ""),
    "nothing": ("", ""),
    "an open frame": (f"{DASHES}\nIt failed", "It failed"),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_the_first_sentence_that_tells_is_taken(text: str, expected: str) -> None:
    assert first_words(text) == expected


def test_a_long_sentence_is_cut_between_words() -> None:
    found = first_words("error: " + "word " * 1000)
    assert len(found) <= MOST_CHARACTERS + 4
    assert found.endswith("word ...")


def test_an_early_end_of_bench_quotes_the_last_that_was_said() -> None:
    with pytest.raises(RunFailed, match=r"the last that it said: out of ports\. Try it with fewer"):
        read_launch("", "starting\nout of ports\n\n")


def test_a_program_that_is_not_there_is_asked_for_on_the_path() -> None:
    with pytest.raises(RunFailed, match=r"no-such-program can't be run: .* on the PATH\?"):
        run_to_end(["no-such-program"], {}, 5.0)
