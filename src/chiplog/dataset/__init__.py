"""Measured data: run files, importers and the checked table that every analysis begins with."""
