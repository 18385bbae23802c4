"""Programs that tuning files are written for: one module each."""
