"""From a fitted model to how long a collective operation takes, by which algorithm, with an interval."""
