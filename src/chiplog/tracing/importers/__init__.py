"""Importers of traces: one module each."""
