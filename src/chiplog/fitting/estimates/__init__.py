"""The parameters of each model of one pair, from the lines of its regimes, with intervals or bounds."""
