"""A machine over months: each survey one immutable Parquet file, and a test that may be looked at every day."""
