"""Every pair of a machine measured: which nodes and links are slow."""
