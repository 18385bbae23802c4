"""`python -m chiplog`."""

from __future__ import annotations

from chiplog.cli import run_and_exit

run_and_exit()
