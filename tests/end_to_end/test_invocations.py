"""A hundred invocations with bad input: the exit code, a piece of the sentence, and nothing is written.

In this process, since each would take a second to start; RUN, MODEL, GOAL and CSV stand for good files.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from all_commands import Inputs

from chiplog.cli import main

INVOCATIONS = """
2 | frobnicate | there is no command 'frobnicate'
2 | mesure sim | Did you mean 'measure'?
2 | version | Did you mean '--version'?
2 | -v | Did you mean '--version'?
2 | --frobnicate | --frobnicate
2 | measure | TARGET
2 | measure sim | -o: is missing
2 | measure sim --colour red | there is no option --colour
2 | measure sim --size 8 -o OUT | Did you mean '--sizes'?
2 | measure sim shm -o OUT | shm is an argument too many; the command is chiplog measure TARGET
2 | measure sim -o | -o: needs a value after it.
2 | fit RUN --details=3 | --details: takes no value.
2 | measure SIM -o OUT | Did you mean 'sim'?
2 | measure sim --pattern ping-pong -o OUT | Did you mean 'ping_pong'?
2 | measure sim --pattern pingpong -o OUT | --pattern
2 | measure sim --pattern , -o OUT | --pattern
2 | measure sim --sizes 8:4 -o OUT | empty
2 | measure sim --sizes 1:4GiX -o OUT | 4GiX
2 | measure sim --sizes 1:4:0 -o OUT | --sizes
2 | measure sim --sizes -5 -o OUT | --sizes
2 | measure sim --sizes 1-64KiB -o OUT | a range has a colon: 1:64KiB
2 | measure sim --sizes 8..64 -o OUT | a range has a colon: 8:64
2 | predict MODEL bcast --ranks 2-64 | a range has a colon: 2:64
2 | measure sim --visits 0 -o OUT | --visits
2 | measure sim --visits many -o OUT | integer
2 | measure sim --visits 1e3 -o OUT | integer
2 | measure sim --visits 99999999999999999999 -o OUT | --visits
2 | measure sim --launches 0 -o OUT | --launches
2 | measure sim --ranks 1 -o OUT | --ranks
2 | measure sim --ranks -2 -o OUT | --ranks
2 | measure sim --budget -3 -o OUT | --budget
2 | measure sim --budget 10s -o OUT | not a number of seconds
2 | measure sim -o MODEL | exists already, and is no run file
2 | measure sim -o . | is a folder; name a file
2 | measure sim --budget nan -o OUT | not a number of seconds
2 | measure sim --budget inf -o OUT | not a number of seconds
2 | measure sim --precision 0 -o OUT | --precision
2 | measure sim --seed -1 -o OUT | --seed
2 | measure sim --seed x -o OUT | integer
2 | measure sim --operation push -o OUT | --operation
2 | measure sim --posting later -o OUT | --posting
2 | measure sim --placement anywhere -o OUT | --placement
2 | measure sim --direction sideways --pattern pairs -o OUT | --direction
2 | measure sim --time-limit 0 -o OUT | --time-limit
2 | measure sim --launcher ' -o OUT | --launcher
2 | measure sim:colour=red -o OUT | colour
2 | measure sim:L=five -o OUT | five
2 | measure carrier-pigeon -o OUT | carrier-pigeon
2 | measure sim --pattern late_receiver -o OUT | --pattern: late_receiver: sends never wait for receives on sim; name
2 | measure tcp --operation rdma-write --sizes 8 -o OUT | --operation: does not accept rdma-write on tcp
2 | measure unix --operation atomic --sizes 8 -o OUT | --operation: does not accept atomic on unix
2 | measure tcp --posting inline --sizes 8 -o OUT | --posting: accepts normal on tcp
2 | measure udp --pattern overlap -o OUT | --pattern: overlap: udp has no receive
2 | measure sim --resume -o OUT | OUT
2 | measure sim -o NOWHERE/x | NOWHERE/x
2 | run shm foo -o OUT | there is no transport 'foo'
2 | run shm,tcp -o OUT | Several targets stand apart
2 | run sim --budget -1 -o OUT | --budget
2 | run sim --budget soon -o OUT | not a number of seconds
2 | run sim -o RUN | is a file, and reports need a folder
2 | run sim --sizes 8:4 -o OUT | empty
2 | run sim --ranks 1 -o OUT | --ranks
2 | survey | TARGET
2 | survey sim --ranks 1 --dry-run | --ranks
2 | survey sim --ranks 8 --sparse=0 --dry-run | --sparse
2 | survey sim --ranks 8 --visits 0 --dry-run | --visits
2 | survey sim --ranks 8 --latency-bytes x --dry-run | --latency-bytes
2 | survey sim --ranks 8 --budget -1 --dry-run | --budget
2 | survey verdict | RUN: is missing; the command is chiplog survey verdict RUN.
2 | survey verdict NOWHERE | NOWHERE
2 | survey verdict RUN --to pigeon | --to
2 | history | FOLDER
2 | history NOWHERE | NOWHERE
2 | history add OUT | RUN: is missing
2 | import | KIND
2 | import OSU CSV -o OUT | Did you mean 'osu'?
2 | import tarot CSV -o OUT | tarot
2 | import CSV osu -o OUT | the kind comes first, as in chiplog import osu
2 | import csv NOWHERE -o OUT | NOWHERE
2 | import csv CSV | -o
2 | fit | RUN: is missing; the command is chiplog fit RUN.
2 | fit NOWHERE | NOWHERE
2 | fit RUN --model astrology | astrology
2 | fit RUN --model LogGP | Did you mean 'loggp'?
2 | fit RUN --model , | --model
2 | fit RUN --method guess | guess
2 | fit RUN --statistic mode | mode
2 | fit RUN --target other | other
2 | fit MODEL | model
2 | fit CSV | CSV
2 | changes NOWHERE | NOWHERE
2 | changes GOAL | GOAL
2 | compare RUN --models astrology | astrology
2 | compare RUN --models loggp --folds 1 | --folds
2 | compare RUN --models loggp --folds 3 --hold-out size>1 | exclude each other
2 | compare RUN --models loggp --hold-out size!8 | --hold-out
2 | compare RUN --fail-on slower:5% | --fail-on
2 | compare RUN RUN --fail-on worse:5% | slower:5%
2 | compare RUN RUN --fail-on slower:5 | slower:5%
2 | compare RUN RUN --models loggp | --models
2 | compare RUN NOWHERE | NOWHERE
2 | predict MODEL | OPERATION: is missing; the command is chiplog predict MODEL.json OPERATION.
2 | predict MODEL dance --ranks 4 | dance
2 | predict MODEL MPI_Allreduce --ranks 4 | Did you mean 'allreduce'?
2 | predict MODEL bcast -n 4 | Did you mean '--ranks'?
2 | predict MODEL bcast --ranks 4 --size 8 | Did you mean '--bytes'?
2 | predict MODEL bcast --ranks 4 --bytes 64K | --bytes: '64K' is not a size
2 | predict MODEL bcast --ranks 4 --json | --json: needs a value after it.
2 | predict MODEL bcast --ranks 0 | --ranks
2 | predict MODEL bcast | --ranks
2 | predict MODEL bcast --ranks 4 --algorithm waltz | waltz
2 | predict MODEL bcast --ranks 4 --bytes -1 | --bytes
2 | predict bcast MODEL --ranks 4 | the model comes first, as in chiplog predict
2 | predict NOWHERE bcast --ranks 4 | NOWHERE
2 | predict RUN bcast --ranks 4 | run
2 | schedule | it accepts barrier, bcast
2 | schedule bcast | it accepts linear, binomial
2 | schedule dance | dance
2 | schedule bcast --algorithm binomial | --ranks
2 | schedule bcast --algorithm binomial --ranks 4 | -o: is missing; add -o FILE.goal.
2 | schedule bcast --algorithm waltz --ranks 4 -o OUT | linear, binomial
2 | schedule bcast --algorithm binomial --ranks 0 -o OUT | --ranks
1 | schedule bcast --algorithm binomial --ranks 4 -o OUT/x | there is no folder OUT, so make it first
2 | schedule bcast --algorithm logp-optimal --ranks 4 --L -1 -o OUT | --L
2 | simulate NOWHERE --model MODEL | NOWHERE
2 | simulate GOAL | --model
2 | simulate GOAL --L 1 --o 1 --g 1 | --G
2 | simulate GOAL --model MODEL --L 1 | --model
2 | simulate GOAL --model MODEL --noise gamma:2% | --noise
2 | simulate RUN --model MODEL | RUN
2 | simulate MODEL GOAL | is an argument too many; the command is chiplog simulate FILE.goal.
2 | app | TRACE
2 | app NOWHERE | NOWHERE
2 | app RUN | a run file
2 | app GOAL | chiplog simulate reads it
2 | app RUN --any-source 3 | --any-source
2 | app RUN --flops-per-second 0 | --flops-per-second
2 | tune MODEL --operation bcast --ranks 4 -o OUT | it accepts chiplog, openmpi
2 | tune MODEL --operation dance --ranks 4 --for openmpi -o OUT | dance
2 | tune MODEL --operation bcast --ranks 4 --for lam -o OUT | lam
2 | tune MODEL bcast --ranks 4 --for openmpi -o OUT | did you mean --operation bcast?
2 | tune --from RUN --operation bcast --for openmpi -o OUT | hold no collective operation
2 | tune --from NOWHERE --operation bcast --for openmpi -o OUT | NOWHERE can't be opened
2 | tune lint MODEL --for openmpi | a tuning file is needed here
2 | tune lint NOWHERE --for openmpi | NOWHERE
2 | check-tuning RUN --for openmpi | is a run file, but a tuning file is needed here
2 | check-tuning NOWHERE --for lam | lam
2 | bench | it accepts barrier, bcast
2 | bench MPI_Barrier | Did you mean 'barrier'?
2 | bench dance | there is no operation 'dance'
2 | bench barrier --budget 0 | --budget: 0 is out of range
2 | bench barrier --lead -1 | --lead: -1 is out of range
2 | bench barrier --launches 0 | --launches
2 | bench dance --guidelines | there is no operation 'dance'
2 | bench --guidelines --bytes 64 | --guidelines takes --sizes
2 | bench --guidelines --launches 1 | --launches
2 | bench barrier --sizes 8 | --sizes: is for --guidelines
2 | tune --for openmpi -o x --shape 8x2 | a model knows no nodes
2 | tune --for openmpi -o x --measure --shape 8by2 | --shape
2 | bench barrier --samples x | integer
2 | bench barrier --bytes 1furlong | --bytes
2 | export MODEL -o OUT | it accepts
2 | export MODEL --to stone -o OUT | stone
2 | export NOWHERE --to csv -o OUT | NOWHERE
2 | report | FILE
2 | report NOWHERE -o OUT.html | NOWHERE
2 | report RUN -o OUT.docx | .html
2 | share MODEL --name one | -o
2 | share MODEL -o OUT | --name
2 | share NOWHERE --name one -o OUT | NOWHERE
2 | share RUN --name one -o OUT | run
2 | list | it accepts models
2 | list colours | models
2 | list model | Did you mean 'models'?
2 | doctor --colour | --colour
2 | trace -o OUT -- nosuchprogram | is it installed, and on the PATH?
2 | trace -o OUT mpirun -n 2 ls | options of the program follow --: chiplog trace -- PROGRAM -n.
2 | probe builds | Did you mean 'build'?
2 | probe build --mpi NOWHERE | --mpi
2 | library build --mpi NOWHERE | --mpi
"""
TABLE = [tuple(map(str.strip, row.split("|"))) for row in INVOCATIONS.strip().splitlines()]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return Inputs(tmp_path_factory.mktemp("inputs"))


def test_there_are_a_hundred() -> None:
    assert len(TABLE) >= 100


@pytest.mark.parametrize(("code", "line", "words"), TABLE, ids=[line for _, line, _ in TABLE])
def test_a_bad_invocation_ends_with_its_code_and_one_sentence(
    code: str,
    line: str,
    words: str,
    inputs: Inputs,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"RUN": inputs.run, "MODEL": inputs.model, "GOAL": inputs.goal, "CSV": inputs.csv}
    assert main([str(files.get(word, word)) for word in line.split()]) == int(code)
    shown = capsys.readouterr()
    assert shown.err.startswith("chiplog: ")
    assert len(shown.err.splitlines()) == 1, shown.err
    assert str(files.get(words, words)) in shown.err
    assert "Traceback" not in shown.err
    assert not shown.out
    assert not list(tmp_path.iterdir())
