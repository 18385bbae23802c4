"""Prometheus itself scrapes a survey's verdict through node_exporter, and an alert's expression finds the slow node.

`make test` takes both programs from Debian's packages and doesn't install these: they start services that listen on all
interfaces.
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from needs import require_command
from verdict_by_hand import verdict_of

from chiplog.machine_survey.operators.prometheus import prometheus_text

WAIT_SECONDS = 40.0
CONFIGURATION = """
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
scrape_configs: [{{job_name: node, static_configs: [{{targets: ["{exporter}"]}}]}}]
"""


def loopback_address() -> str:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


@contextmanager
def running(log: Path, *command: str) -> Iterator[None]:
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            yield
        finally:
            process.kill()


def answer(url: str) -> str:
    """What is read from a server that may still be starting."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                return str(response.read().decode())
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def found(server: str, expression: str) -> list[dict[str, dict[str, str]]]:
    """What the server's data base answers, as soon as it has something."""
    query = f"http://{server}/api/v1/query?query={urllib.parse.quote(expression)}"
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        result: list[dict[str, dict[str, str]]] = json.loads(answer(query))["data"]["result"]
        if result or time.monotonic() > deadline:
            return result
        time.sleep(0.1)


def test_prometheus_reads_the_verdict_through_node_exporter(tmp_path: Path) -> None:
    for program in ("prometheus", "prometheus-node-exporter"):
        require_command(program, program)
    folder = tmp_path / "textfile"
    folder.mkdir()
    (folder / "chiplog.prom").write_text(prometheus_text(verdict_of()))
    exporter, server = loopback_address(), loopback_address()
    (tmp_path / "prometheus.yml").write_text(CONFIGURATION.format(exporter=exporter))
    export = (
        *("prometheus-node-exporter", f"--web.listen-address={exporter}"),
        *("--collector.disable-defaults", "--collector.textfile"),
        f"--collector.textfile.directory={folder}",
    )
    scrape = (
        *("prometheus", f"--config.file={tmp_path / 'prometheus.yml'}"),
        *(f"--storage.tsdb.path={tmp_path / 'data'}", f"--web.listen-address={server}"),
    )
    with running(tmp_path / "exporter.log", *export), running(tmp_path / "server.log", *scrape):
        exported = answer(f"http://{exporter}/metrics")
        assert "node_textfile_scrape_error 0" in exported
        slow = found(server, "chiplog_node_slow == 1")
        effects = found(server, "chiplog_node_effect_ratio")
    assert [one["metric"]["node"] for one in slow] == ["n05.cluster"]
    assert slow[0]["metric"]["quantity"] == "bandwidth"
    assert {one["metric"]["node"] for one in effects} == {"N04.cluster", "n05.cluster", "n06"}
