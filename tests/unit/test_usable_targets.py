"""A target that is not there, or not usable, is refused before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.cli import main
from chiplog.errors import UsageError
from chiplog.measurement import inquiry
from chiplog.measurement.inquiry import NotBuilt, TransportFacts, check_transports


@pytest.fixture(autouse=True)
def transports(monkeypatch: pytest.MonkeyPatch) -> None:
    known = (
        TransportFacts("shm", "s", "", {}),
        TransportFacts(
            "ucx", "s", "", {}, False, "libucp.so.0 is not there", (), "install libucx0"
        ),
    )
    answer = (known, (NotBuilt("verbs", "libibverbs-dev"),))
    monkeypatch.setattr(inquiry, "all_transports", lambda: answer)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("foo", "foo: there is no transport 'foo'; there are shm, ucx, mpi."),
        ("ucx:tls=tcp", "ucx:tls=tcp: is not usable here: libucp.so.0 is not there; install"),
        ("verbs", "verbs: this probe was built without verbs; install libibverbs-dev"),
    ],
)
def test_a_target_that_cannot_be_measured_is_refused_with_what_to_do(
    target: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report"
    assert main(["run", "shm", target, "-o", str(out)]) == 2
    assert words in capsys.readouterr().err
    assert not out.exists()


def test_other_hosts_may_have_what_this_one_has_not() -> None:
    check_transports(["shm", "mpi:rma", "ucx"], elsewhere=True)
    with pytest.raises(UsageError, match="no transport"):
        check_transports(["foo"], elsewhere=True)
