"""Measuring: starts the probe, sends the plan's requests and keeps every record."""

from __future__ import annotations
