"""Measured data: run files, importers, exporters and the checked table that every analysis begins with."""
