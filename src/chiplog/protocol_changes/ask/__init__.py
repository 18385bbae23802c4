"""Which sizes to measure next, and what that costs."""
