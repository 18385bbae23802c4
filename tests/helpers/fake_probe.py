"""A stand-in for the probe: answers every request with made-up samples, and misbehaves when it is told to.

Usage: fake_probe.py LAUNCH [FAIL_AT_ID ACTION]; ACTION is `die`, `hang` or `corrupt`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from chiplog.dataset.lines import encode_line


def header(launch: int) -> dict[str, object]:
    return {
        "type": "header",
        "schema": "chiplog.run/1",
        "chiplog": "0",
        "run_id": "0" * 16,
        "created": "2026-01-01T00:00:00Z",
        "target": "fake",
        "transport": "fake",
        "ranks": 2,
        "seed": 1,
        "launch": launch,
        "hosts": ["here"],
        "binding": [[0], [1]],
        "machine": {},
        "clock": {"name": "fake", "resolution_ns": 1.0, "overhead_ns": 1.0},
        "options": {},
        "capabilities": {"synchronises": False, "max_message_bytes": 2**30},
        "mpi": None,
        "warnings": [],
    }


def record(request: dict[str, object], launch: int) -> dict[str, object]:
    series = []
    for one in request["series"]:  # type: ignore[attr-defined]
        samples = 1000 * one["train"] + one["message_bytes"]
        series.append(
            {
                **one,
                "direction": "round-trip",
                "delay_ns": 1.0 if one["delay_ns"] else 0.0,
                "batch": 1,
                "warmup": 2,
                "messages": 20,
                "bytes": 100,
                "samples_ns": [samples] * 12,
            }
        )
    return {
        "type": "record",
        "id": request["id"],
        "visit": request["visit"],
        "launch": launch,
        "started_ns": 0,
        "elapsed_ns": 1000,
        "placement_ns": None,
        "payload": "ok",
        "stopped": "precision",
        "relative_half_width": 0.0,
        "series": series,
        "tag": request["tag"],
    }


def say(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.flush()


def main() -> None:
    launch = int(sys.argv[1])
    fail_at, action = (int(sys.argv[2]), sys.argv[3]) if len(sys.argv) > 2 else (-1, "")
    say(encode_line(header(launch)))
    for line in sys.stdin:
        request = json.loads(line)
        if request["type"] == "quit":
            return
        if request["id"] == fail_at:
            if action == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if action == "hang":
                time.sleep(100)
        answer = encode_line(record(request, launch))
        if request["id"] == fail_at and action == "corrupt":
            answer = answer.replace(b'"payload"', b'"paylaod"')
        say(answer)


if __name__ == "__main__":
    main()
