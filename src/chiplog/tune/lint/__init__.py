"""Is each rule of a tuning file legal for the MPI at hand, and is it really taken?"""
