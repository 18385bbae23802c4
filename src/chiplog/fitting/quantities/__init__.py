"""What was measured, as quantities over the message size with bootstrap replicates.

A series becomes one number (`location`), records of one size one value (`combine`), and the patterns of a method the
half round trip, the gap and the overheads (`methods`).
"""
