"""Exporters of a dataset as a table: one module each."""
