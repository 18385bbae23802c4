"""Whatever stands in a tuning file, lint ends in rules with lines and reasons: never a traceback."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chiplog.tune.lint.classic_lint import lint_classic
from chiplog.tune.lint.han_lint import lint_han
from chiplog.tune.lint.json_lines import JsonValue, parse_json
from chiplog.tune.lint.mca_lint import lint_mca
from chiplog.tune.lint.mpich_lint import read_tree
from chiplog.tune.lint.mpich_release import MpichRelease
from chiplog.tune.lint.openmpi_json_lint import lint_openmpi_json
from chiplog.tune.lint.openmpi_release import OpenMpiRelease
from chiplog.tune.lint.rule import FileIgnored, Rule
from chiplog.tune.lint.settings_lint import lint_ucc, looks_like_settings

PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
RELEASES = [OpenMpiRelease(version, None) for version in ((4, 1, 4), (5, 0, 11), (6, 0))]
numbers = st.integers(-2, 12) | st.sampled_from([2**31, 2**63, 10**9, 10**40])
classic_texts = st.lists(
    numbers.map(str)
    | st.sampled_from(["#x", "0x1f", "010", "a", "-", "\n", "rule-file-version-2"]),
    max_size=60,
).flatmap(lambda words: st.sampled_from([" ", "\n"]).map(lambda sign: sign.join(words)))
han_texts = st.lists(
    st.integers(0, 3).map(str)
    | st.sampled_from(
        ["bcast", "barrier", "2", "global_communicator", "han", "tuned", "@x\x01", "["]
    ),
    max_size=60,
).map("\n".join)
any_text = st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1"))
keys = st.sampled_from(
    [
        *("collectives", "allreduce", "rules", "alg", "msg_size_min", "comm_size_max", "module"),
        *("collective=bcast", "comm_type=intra", "comm_size<8", "comm_size=pow2", "comm_size=any"),
        *("avg_msg_size<=9", "is_commutative=no", "algorithm=MPIR_Bcast_intra_binomial", "k=2"),
        *("comm_hierarchy=any", "composition=MPIDI_Bcast_intra_composition_alpha", "any", ""),
    ]
)
documents = st.recursive(
    st.none()
    | st.booleans()
    | numbers
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=40,
)


def check(rules: list[Rule], text: str) -> None:
    last = text.count("\n") + 1
    for one in rules:
        assert 1 <= one.line <= last
        assert one.text and one.text.isprintable()
        assert one.reason if one.is_wrong else True


@PATIENT
@given(classic_texts | any_text, st.sampled_from(RELEASES))
def test_classic_rules(text: str, release: OpenMpiRelease) -> None:
    rules, places = lint_classic(text, release)
    check([*rules, *(one.rule for one in places)], text)


@PATIENT
@given(han_texts | any_text, st.sampled_from(RELEASES))
def test_rules_of_han(text: str, release: OpenMpiRelease) -> None:
    check(lint_han(text, release), text)


@PATIENT
@given(documents.map(lambda one: json.dumps(one, indent=1)) | any_text)
def test_json_rules_and_trees(text: str) -> None:
    check(lint_openmpi_json(text, RELEASES[2]), text)
    _, rules, leaves, _ = read_tree(text, MpichRelease((4, 0, 2), None))
    check([*rules, *(leaf.rule for leaf in leaves)], text)


@PATIENT
@given(any_text | st.lists(any_text).map(lambda lines: "=".join(lines)))
def test_settings(text: str) -> None:
    looks_like_settings(text)
    check(lint_mca(text, RELEASES[0]), text)
    check(lint_ucc(text), text)


def plain(value: JsonValue) -> object:
    if value.kind == "object":
        return {one.key: plain(one.value) for one in value.members}
    if value.kind == "array":
        return [plain(one.value) for one in value.members]
    return value.text if value.kind == "string" else json.loads(value.text)


@PATIENT
@given(documents)
def test_json_is_read_as_pythons_own_reader_does(document: object) -> None:
    assert plain(parse_json(json.dumps(document, indent=1))) == document


@PATIENT
@given(documents.map(json.dumps), st.integers(0, 200))
def test_a_truncated_object_is_never_whole(text: str, length: int) -> None:
    if not text.startswith("{") or length >= len(text):
        return
    with pytest.raises(FileIgnored):
        parse_json(text[:length])
