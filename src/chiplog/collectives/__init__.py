"""Collective operations: a folder each, and in it a file for each algorithm, with schedule, closed form and citation.

`registry.load(operation, name)` finds an algorithm. Its `schedule(Task(...))` makes the operations of all ranks, its
`seconds(Task(...), network)` says when the last of them is done.
"""
