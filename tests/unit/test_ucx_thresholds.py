"""`chiplog ucx` on an UCX of known times: its thresholds, the race, and the file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate

from chiplog.errors import RunFailed, UsageError
from chiplog.tune.measured.launch import CandidateSamples
from chiplog.tune.ucx.launches import MODES, UcxLaunch
from chiplog.tune.ucx.protocols import RENDEZVOUS, ZERO_COPY, Protocols, kind_of, read_protocols
from chiplog.tune.ucx.result import UcxTuning
from chiplog.tune.ucx.thresholds import RENDEZVOUS_VARIABLE, ZERO_COPY_VARIABLE
from chiplog.tune.ucx.tuning import UcxOptions, tune_ucx

COSTS = {"copy": (1e-6, 1e-9), "zcopy": (3e-6, 0.5e-9), "rndv": (20e-6, 0.1e-9)}
"""Seconds of a message, and of each byte: zero copy pays from 4,000 B on, rendezvous from 42,500 B on."""
SIZES = "64:1MiB"


@dataclass
class KnownUcx:
    """An UCX whose protocols take times that are known, in launches that differ by chance."""

    environment: Mapping[str, str] = field(default_factory=dict)
    own: tuple[int, int] = (4000, 42500)
    """The thresholds of zero copy and rendezvous that it chooses by itself."""
    has_zero_copy: bool = True
    scatter: float = 0.01
    seed: int = 1
    slow_rendezvous: float = 1.0
    """By what factor rendezvous is slower while all sizes do not use it, which no arm of the measurement shows."""
    launches: int = 0

    def __call__(self, settings: Mapping[str, str], sizes: Sequence[int], number: int) -> UcxLaunch:
        self.launches += 1
        protocols = self.protocols({**self.environment, **settings})
        random = np.random.default_rng((self.seed, number))
        launch = math.exp(random.normal(0, self.scatter))
        samples = {}
        for size in sizes:
            fixed, each = COSTS[protocols.at(size)]
            seconds = (fixed + each * size) * launch
            if protocols.names[0] != "rndv" and protocols.at(size) == "rndv":
                seconds *= self.slow_rendezvous
            samples[size] = CandidateSamples(
                {
                    mode: 2 * train * seconds * np.exp(random.normal(0, self.scatter, 20))
                    for train, mode in MODES.items()
                }
            )
        return UcxLaunch(protocols, "1.13.1", True, samples)

    def protocols(self, settings: Mapping[str, str]) -> Protocols:
        """What UCX makes of its variables."""

        def threshold(variable: str, own: int) -> float:
            text = settings.get(variable, "auto")
            return own if text == "auto" else math.inf if text == "inf" else int(text)

        zero_copy = threshold(ZERO_COPY_VARIABLE, self.own[0]) if self.has_zero_copy else math.inf
        rendezvous = threshold(RENDEZVOUS_VARIABLE, self.own[1])
        steps = [(0.0, "copy"), (zero_copy, "zcopy"), (rendezvous, "rndv")]
        kept: list[tuple[int, str]] = []
        for first, name in steps:
            if first < math.inf and not (name == "zcopy" and first >= rendezvous):
                while kept and kept[-1][0] >= first:
                    kept.pop()
                kept.append((int(first), name))
        return Protocols(tuple(first for first, _ in kept), tuple(name for _, name in kept))


def tuned(ucx: KnownUcx, out: Path | None = None, **options: int) -> UcxTuning:
    return tune_ucx("ucx", out, UcxOptions(sizes=SIZES, **options), measure=ucx)


@pytest.mark.parametrize("seed", range(5))
def test_the_thresholds_are_found_within_their_intervals(seed: int) -> None:
    rendezvous, zero_copy = tuned(KnownUcx(seed=seed)).thresholds
    assert rendezvous.variable == RENDEZVOUS_VARIABLE
    assert rendezvous.low <= 42500 <= rendezvous.high
    assert zero_copy.low <= 4000 <= zero_copy.high


@pytest.mark.parametrize("seed", range(5))
def test_what_is_in_force_stays_where_it_is_the_best(seed: int, tmp_path: Path) -> None:
    out = tmp_path / "ucx.sh"
    tuning = tuned(KnownUcx(seed=seed), out, seed=seed)
    assert tuning.verdict == "default"
    assert not [line for line in out.read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("wrong", ["64", "512KiB"])
def test_a_wrongly_set_threshold_is_left_to_ucx_where_its_own_is_right(
    seed: int, wrong: str, tmp_path: Path
) -> None:
    wrong_bytes = str(2**19) if wrong == "512KiB" else wrong
    out = tmp_path / "ucx.sh"
    ucx = KnownUcx({RENDEZVOUS_VARIABLE: wrong_bytes}, seed=seed)
    tuning = tuned(ucx, out, seed=seed)
    assert tuning.settings == {RENDEZVOUS_VARIABLE: "auto", ZERO_COPY_VARIABLE: "auto"}
    assert "export UCX_RNDV_THRESH=auto\n" in out.read_text()
    assert all(row.ratio.high <= 1.03 for row in tuning.race)


@pytest.mark.parametrize("seed", range(5))
def test_where_ucx_itself_is_wrong_a_number_is_set(seed: int) -> None:
    tuning = tuned(KnownUcx(own=(4000, 256), seed=seed), seed=seed)
    assert tuning.verdict == "recommended"
    assert 16384 <= int(tuning.settings[RENDEZVOUS_VARIABLE]) <= 65536
    assert "auto" not in tuning.settings.values()


def test_held_out_sizes_were_not_measured_before() -> None:
    tuning = tuned(KnownUcx({RENDEZVOUS_VARIABLE: "64"}))
    raced = {row.message_bytes for row in tuning.race}
    assert raced
    assert not raced & set(tuning.sizes)


def test_only_sizes_that_change_their_protocol_race() -> None:
    tuning = tuned(KnownUcx({RENDEZVOUS_VARIABLE: "64"}))
    assert all(row.now != row.then for row in tuning.race)
    assert all(row.message_bytes < 42500 for row in tuning.race)


def test_what_only_the_race_shows_keeps_the_default() -> None:
    """Thresholds by arms say that rendezvous pays early; in use, beside eager messages, it is slower."""
    ucx = KnownUcx({RENDEZVOUS_VARIABLE: str(2**20)}, own=(4000, 2**20), slow_rendezvous=4.0)
    tuning = tuned(ucx)
    assert tuning.tried
    assert tuning.verdict == "default"
    assert "times as long" in tuning.reason


def test_a_network_without_zero_copy_says_so() -> None:
    rendezvous, zero_copy = tuned(KnownUcx(has_zero_copy=False)).thresholds
    assert rendezvous.value is not None
    assert zero_copy.value is None
    assert "no eager protocol without copies" in str(zero_copy.reason)


def test_launches_that_differ_more_than_protocols_leave_the_default() -> None:
    tuning = tuned(KnownUcx({RENDEZVOUS_VARIABLE: "64"}, scatter=3.0))
    assert tuning.verdict == "default"


def test_settings_that_ucx_does_not_obey_are_not_recommended() -> None:
    class Deaf(KnownUcx):
        def protocols(self, settings: Mapping[str, str]) -> Protocols:
            obeyed = settings if "0" in settings.values() or "inf" in settings.values() else {}
            return super().protocols(obeyed)

    tuning = tuned(Deaf(own=(4000, 256)))
    assert tuning.verdict == "default"
    assert "same protocols" in tuning.reason


def test_the_file_and_the_json_hold_the_evidence(tmp_path: Path) -> None:
    out = tmp_path / "ucx.sh"
    tuning = tuned(KnownUcx({RENDEZVOUS_VARIABLE: "64"}), out)
    text = out.read_text()
    for words in (
        "UCX 1.13.1",
        "Without this file: from 0 B copy, from 64 B rndv",
        "pairs of launches",
    ):
        assert words in text
    content = json.loads(json.dumps(tuning.to_json(), allow_nan=False))
    validate(content)
    assert content["verdict"] == "recommended"
    assert content["in_force"]["now"].endswith("from 64 B rndv")


def header(*messages: str) -> dict[str, object]:
    return {"options": {"messages": list(messages)}}


def test_the_steps_of_older_releases_are_read() -> None:
    protocols = read_protocols(header("0..<egr/short>..8185..<egr/zcopy>..8192..<rndv>..(inf)"))
    assert [protocols.at(size) for size in (0, 8184, 8185, 8192)] == [
        "egr/short",
        "egr/short",
        "egr/zcopy",
        "rndv",
    ]
    assert kind_of("egr/zcopy") == ZERO_COPY
    assert kind_of("rndv") == RENDEZVOUS


def test_the_table_of_the_newer_selection_is_read() -> None:
    protocols = read_protocols(
        header(
            "0 eager short",
            "1..92 eager zero-copy copy-out",
            "93..6237 eager copy-in copy-out",
            "6238..1M eager zero-copy copy-out",
            "1M..inf (?) rendezvous zero-copy read from remote",
        )
    )
    assert protocols.at(93) == "eager copy-in copy-out"
    assert kind_of(protocols.at(6238)) == ZERO_COPY
    assert kind_of(protocols.at(2**20)) == RENDEZVOUS


@pytest.mark.parametrize(
    "messages",
    [(), ("something else",), ("0..<a>..(inf)", "0..<b>..(inf)"), ("5..<a>..(inf)",)],
)
def test_protocols_that_ucx_does_not_tell_end_the_command(messages: Sequence[str]) -> None:
    with pytest.raises(RunFailed, match="does not say by which protocols"):
        read_protocols(header(*messages))


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("tcp", UcxOptions(), "is not UCX"),
        ("ucx", UcxOptions(sizes="8"), "two sizes or more"),
        ("ucx", UcxOptions(sizes="0:8"), "from 1 B on"),
        ("ucx", UcxOptions(blocks=2), "accepts 3 or more"),
    ],
)
def test_what_cannot_be_measured_is_refused(target: str, options: UcxOptions, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        tune_ucx(target, options=options, measure=KnownUcx())


def test_an_empty_range_is_no_protocol() -> None:
    assert read_protocols(header("0..<egr/short>..0..<rndv>..(inf)")).names == ("rndv",)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_recommended_is_nowhere_slower_by_more_than_3_percent(seed: int) -> None:
    """By the known times, at every size, from any thresholds in force and with launches that scatter."""
    random = np.random.default_rng(seed)
    thresholds = [int(2 ** random.uniform(6, 20)) for _ in range(2)]
    in_force = {RENDEZVOUS_VARIABLE: str(thresholds[0]), ZERO_COPY_VARIABLE: str(thresholds[1])}
    ucx = KnownUcx(in_force, scatter=float(random.uniform(0.01, 0.1)), seed=seed)
    tuning = tuned(ucx, seed=seed)
    now, then = ucx.protocols(in_force), ucx.protocols({**in_force, **tuning.settings})
    for size in (round(2 ** (octave / 8)) for octave in range(6 * 8, 20 * 8)):
        before, after = (COSTS[protocols.at(size)] for protocols in (now, then))
        ratio = (after[0] + after[1] * size) / (before[0] + before[1] * size)
        assert ratio <= 1.03, (size, tuning.settings)


@pytest.mark.parametrize("seed", range(5))
def test_where_rendezvous_hides_both_eager_ways_the_better_one_is_set(seed: int) -> None:
    """Copies below 4,000 B: 64 B as the threshold of zero copy changes as many sizes, but is worse."""
    tuning = tuned(KnownUcx({RENDEZVOUS_VARIABLE: "64"}, own=(64, 256), seed=seed), seed=seed)
    assert 1024 <= int(tuning.settings[ZERO_COPY_VARIABLE]) <= 16384
