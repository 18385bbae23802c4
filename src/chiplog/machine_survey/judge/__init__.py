"""Who is slow: a file for each kind of suspect, and the verdict that joins them."""
