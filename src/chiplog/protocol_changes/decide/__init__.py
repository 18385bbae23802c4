"""What the answers mean: is a size before or after a change, does the time jump, does it last."""
