"""Where the medians over sizes show protocol changes: mathematics only, nothing is asked or decided here.

`observed` forms the series, without what drift and states added to each record; `segments` divides each
into lines; `breaks` tells jumps from changes of slope; `consensus` joins what the series of one run show.
"""
