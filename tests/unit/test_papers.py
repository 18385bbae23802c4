"""The pages of examples/papers hold every figure of their list, and their commands and numbers are chiplog's."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from needs import require_data

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))
pytest.importorskip("matplotlib")

from papers import lop_times, machines, nodecomm, nodes  # noqa: E402
from papers.build import contents, drawn_before, page, sections  # noqa: E402
from papers.catalogue import DOCUMENTS, Document  # noqa: E402
from papers.loggp_prtt import DELAYS, EXAMPLE, TOOLS  # noqa: E402
from papers.n_way_dissemination import ONE_PEER, TWO_PEERS  # noqa: E402
from papers.section import Section, fit_of, measured, run_of  # noqa: E402
from papers.space_time import received_from, sent_to, trace_of  # noqa: E402

from chiplog.cli.app import COMMANDS  # noqa: E402
from chiplog.collectives.barrier.n_way_dissemination import round_count  # noqa: E402
from chiplog.dataset.importers import import_file  # noqa: E402
from chiplog.dataset.run_file import read_run  # noqa: E402

PAPERS = ROOT / "examples" / "papers"
PAGES = PAPERS / "pages"


def test_the_list_is_the_one_that_the_code_writes() -> None:
    assert (PAPERS / "README.md").read_text() == contents()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_each_section_of_a_page_belongs_to_a_figure_of_the_list(document: Document) -> None:
    drawn = {section.key for section in sections(document)}
    assert drawn <= {item.drawn_by for item in document.items}
    assert all(bool(item.drawn_by) != bool(item.reason) for item in document.items)
    for section in sections(document):
        page = (PAGES / f"{document.name}.md").read_text()
        assert f'<a id="{section.key}"></a>' in page
        assert not section.picture or (PAGES / f"{document.name}-{section.key}.svg").exists()


def test_every_figure_and_table_of_the_documents_is_drawn() -> None:
    for document in DOCUMENTS:
        drawn = {section.key for section in sections(document)}
        assert [item.title for item in document.items if item.drawn_by not in drawn] == []


@pytest.mark.parametrize(
    "page", ["README.md", *(f"pages/{document.name}.md" for document in DOCUMENTS)]
)
def test_each_link_of_a_page_leads_to_a_file_or_a_section(page: str) -> None:
    folder = (PAPERS / page).parent
    text = (PAPERS / page).read_text()
    links = re.findall(r"\]\((?!https:)([^)#]*)(?:#([^)]*))?\)", text)
    assert links
    for file, anchor in links:
        assert (folder / file).exists(), file
        assert not anchor or f'<a id="{anchor}"></a>' in (folder / file).read_text(), anchor


def test_no_simulated_run_ends_at_a_time_that_depends_on_the_load() -> None:
    """Chiplog's default budget is real time: on a busy machine other samples would be drawn."""
    commands = {
        command
        for document in DOCUMENTS
        for section in sections(document)
        for command in section.commands
    }
    calls = [shlex.split(command) for command in commands if command.startswith("chiplog measure")]
    assert calls
    assert all(int(words[words.index("--budget") + 1]) >= 60 for words in calls)


def test_samples_that_a_budget_ended_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(target: str, out: Path, **options: object) -> None:
        out.write_text('{"type":"record","stopped":"budget"}\n')

    monkeypatch.setattr("chiplog.measure", ended)
    with pytest.raises(RuntimeError, match=r"--budget 0\.5"):
        run_of(measured("sim:L=5us", "prtt", "1", 2, 7, 0.5))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_each_command_of_a_page_exists(document: Document) -> None:
    for command in (command for section in sections(document) for command in section.commands):
        words = shlex.split(command)
        assert words[:1] == ["chiplog"] and words[1] in COMMANDS, command


def test_the_example_fit_drawn_anew_has_the_numbers_of_the_page() -> None:
    """The same seed gives the same samples; 1e-3 is half a unit of the last printed digit of G, relatively."""
    page = (PAGES / "loggp-prtt.md").read_text()
    printed = re.search(r"finds g = ([\d.]+) µs and G = ([\d.]+) ns/B", page)
    assert printed is not None
    fit = fit_of(EXAMPLE, "loggp")
    assert fit["g"].value * 1e6 == pytest.approx(float(printed[1]), rel=1e-3)
    assert fit["G"].value * 1e9 == pytest.approx(float(printed[2]), rel=1e-3)


def test_the_barriers_drawn_anew_have_the_numbers_of_the_page() -> None:
    """Closed forms: what is printed with two digits is what is computed."""
    page = (PAGES / "n-way-dissemination.md").read_text()
    barriers = next(section for section in sections(DOCUMENTS[1]) if section.key == "barrier")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, axes = pyplot.subplots()
    shows = barriers.draw(axes)
    pyplot.close(figure)
    assert f"**chiplog:** {shows}\n" in page
    assert "P = 64: n = 3, 27.29 µs instead of 48.05 µs" in shows


@pytest.mark.parametrize(("commands", "peers"), [(ONE_PEER, 1), (TWO_PEERS, 2)])
def test_each_rank_of_a_drawn_barrier_has_the_peers_of_the_slides(
    commands: tuple[str, ...], peers: int
) -> None:
    """Both barriers have as many ranks as their last round fills: (n+1)^R."""
    trace = trace_of(commands)
    rounds = round_count(trace.ranks, peers)
    steps = [i * (peers + 1) ** r for r in range(rounds) for i in range(1, peers + 1)]
    for rank in range(trace.ranks):
        assert sent_to(trace, rank) == [(rank + step) % trace.ranks for step in steps]
        assert received_from(trace, rank) == [(rank - step) % trace.ranks for step in steps]
    overhead, latency, gap = 1.0, 5.0, 2.0
    assert trace.end_us == rounds * (2 * overhead + latency + (peers - 1) * gap)


def test_the_drawn_trains_take_what_their_formulas_say() -> None:
    """PRTT(1, 0, s) = 2 (L + 2o + (s-1)G), each further message costs max(o + d, g + (s-1)G); in us."""
    latency, overhead, gap, bytes_us = 5.0, 1.0, 2.0, 4000 * 0.001
    round_trip = 2 * (latency + 2 * overhead + bytes_us)
    tools = trace_of((TOOLS,))
    done = [max(span.end_us for span in tools.spans if span.rank == client) for client in (0, 2)]
    assert done == [round_trip, round_trip + 3 * (gap + bytes_us)]
    assert trace_of((DELAYS,)).end_us == round_trip + 2 * (overhead + round_trip)


def test_lops_times_of_both_ends_and_the_network_make_half_a_round_trip() -> None:
    """The simulated network has the printed o(1) of 1.475 us; with one peer it is LogP: o + L + o."""
    half = lop_times.medians_us("round-trip") / 2
    for peers in (1, lop_times.MANY):
        assert sum(lop_times.times_us(peers)) == pytest.approx(half[peers - 1])
    post, _, answer = lop_times.times_us(1)
    assert post == answer == pytest.approx(1.475, rel=0.01)


def test_messages_over_a_shared_path_go_one_after_the_other_in_the_picture_of_the_nodes() -> None:
    """The path sends the k-th message after k n/R_N, and none before its own (n-1)G; in us."""
    size, ends = 65536, 5.0 + 2 * 1.0
    own = ends + (size - 1) * 0.5e-3
    assert nodes.arrivals_us(trace_of((nodes.OWN_PATHS,))) == pytest.approx([own] * 8)
    shared = [max(own, ends + k * size / 5e3) for k in range(1, 9)]
    assert nodes.arrivals_us(trace_of((nodes.SHARED_PATH,))) == pytest.approx(shared, rel=1e-4)


def test_the_picture_of_two_nodes_has_the_rates_that_were_put_in() -> None:
    fit = fit_of(nodes.PAIRS, "max-rate")
    assert fit["R_C"].low <= 2e9 <= fit["R_C"].high
    assert fit["R_N"].low <= 7e9 <= fit["R_N"].high


def test_a_table_of_machines_says_what_neither_slides_nor_chiplog_tell() -> None:
    table = machines.table({"A": {"processor": "Xeon"}}, None)
    assert "| processor | Xeon | `cpu` |" in table
    assert "| bus of the network adapter | not said | none | not recorded |" in table


def cray_sections() -> list[Section]:
    """Sections that are drawn from the published measurements of the Cray XE6."""
    return [s for s in sections(DOCUMENTS[4]) if "nodecomm_orig" in " ".join(s.commands)]


def test_the_cray_drawn_anew_has_the_numbers_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The published measurements, which another file has as a table."""
    header, _, rows = require_data("bluewaters_nodecomm.csv").read_text().partition("\n")
    names = header.replace("run", "launch").replace("ping_pong_seconds", "seconds")
    (tmp_path / "table.csv").write_text(f"{names}\n{rows}")
    options = {"pattern": "pairs", "direction": "round-trip"}
    run = read_run(import_file("csv", tmp_path / "table.csv", tmp_path / "run.jsonl", **options))
    monkeypatch.setattr(nodecomm, "run", lambda: run)
    text = (PAGES / "max-rate.md").read_text()
    cray = cray_sections()
    assert len(cray) == 14
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for section in cray:
        figure, axes = pyplot.subplots()
        assert section.draw(axes) in text, section.key
        pyplot.close(figure)
    nodecomm.fit.cache_clear()
    nodecomm.times.cache_clear()


def test_a_page_keeps_what_was_drawn_from_a_file_that_is_not_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NODECOMM", raising=False)
    nodecomm.run.cache_clear()
    cray = cray_sections()
    monkeypatch.setattr("papers.max_rate.SECTIONS", tuple(cray))
    before = (PAGES / "max-rate.md").read_text()
    (tmp_path / "max-rate.md").write_text(before)
    kept = page(DOCUMENTS[4], tmp_path)
    assert kept.count("## ") == len(cray)
    for section in cray:
        assert drawn_before(DOCUMENTS[4], section, PAGES).strip() in kept, section.key
