"""The fit of k pairs of processes between two nodes: postal and max-rate.

The way there: one half round trip a series (`table`), protocols common to all k (`regimes`), relative least squares
within each (`solve`), intervals over launches and points (`estimate`), and what a designer makes of it (`advice`).
"""
