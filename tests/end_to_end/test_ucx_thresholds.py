"""`chiplog ucx` over the UCX of this machine: the file and the JSON, whatever the machine is doing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import chiplog
from json_schemas import validate

from chiplog.measurement.inquiry import transports

pytestmark = pytest.mark.skipif(
    not any(facts.name == "ucx" and facts.usable for facts in transports()),
    reason="UCX is not usable here",
)


@pytest.mark.parametrize("threshold", [None, "64"])
def test_the_thresholds_of_tcp(tmp_path: Path, threshold: str | None) -> None:
    environment = {} if threshold is None else {"UCX_RNDV_THRESH": threshold}
    out, answer = tmp_path / "ucx.sh", tmp_path / "ucx.json"
    sizes = ("--sizes", "8,1KiB,32KiB", "--launches", "3")
    done = chiplog(
        "ucx", "ucx:tls=tcp", *sizes, "-o", out, "--json", answer, environment=environment
    )
    assert done.code == 0, done.stderr
    content = json.loads(answer.read_text())
    validate(content)
    exports = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    assert exports == [f"export {name}={value}" for name, value in content["settings"].items()]
    if threshold is not None:
        assert "from 64 B rndv" in content["in_force"]["now"]
    assert "in force" in done.stdout


def test_the_newer_selections_protocols_are_read_from_its_table(tmp_path: Path) -> None:
    answer = tmp_path / "ucx.json"
    sizes = ("--sizes", "8,32KiB", "--launches", "3")
    environment = {"UCX_PROTO_ENABLE": "y", "UCX_RNDV_THRESH": "64"}
    done = chiplog("ucx", "ucx:tls=tcp", *sizes, "--json", answer, environment=environment)
    assert done.code == 0, done.stderr
    now = json.loads(answer.read_text())["in_force"]["now"]
    assert "from 64 B rendezvous" in now
