"""From a dataset to parameters with intervals: what is identified, and how well it predicts.

A fit goes through rooms in one direction:

    states       which records are of one state of the machine
    quantities   half round trip, gap and overheads over the message size, with bootstrap replicates
    regimes      the ranges of sizes over which one line predicts them, beside the protocol changes (`changes`)
    estimates    the parameters of each model, from the lines: with an interval, or with bounds and the reason
    predictions  what the fit says of messages

`run` leads through them for one pair of processes; `one_to_many` and `pairs` are the same for one process to many and
for k pairs. Every step carries the same bootstrap replicates along, so that differences keep their correlations.
"""
