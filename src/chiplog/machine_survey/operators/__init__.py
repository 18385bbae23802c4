"""A survey's verdict by node, for what operators run: Prometheus, NHC, Slurm and scripts."""
