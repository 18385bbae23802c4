"""Datasets and reports made up for tests: their truth is known."""
