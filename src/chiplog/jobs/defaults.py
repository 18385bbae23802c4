"""What `chiplog run` does where it is not told otherwise; apart, so that the command line loads nothing else for it."""

BUDGET_SECONDS = 60.0
"""Given: a minute."""
SIZES = "1:4MiB:3"
"""Three sizes an octave: fits of fewer miss sizes between by a third more."""
