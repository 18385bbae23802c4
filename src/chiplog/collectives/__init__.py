"""Collective operations: a folder each, and in it a file for each algorithm, with its schedule and its citation.

`registry.load(operation, name)` finds an algorithm; its `schedule(Task(...))` makes the operations of all ranks.
"""
