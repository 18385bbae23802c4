"""Models of one process to many, fitted to RTT(p) and to the time that posting p sends takes.

`observed` takes both from the dataset over the number of peers p; `logp`, `lop`, `lop_overhead` and `logfp` read the
parameters from them, one set a message size; `run` makes the Fit.
"""
