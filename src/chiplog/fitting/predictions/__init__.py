"""What a fit says of messages.

`predictor` says it by one parameter vector, for errors and plots; `regime` and `span` by all vectors that the data
leave, for whatever leaves chiplog; `bands` says where the next measured median will lie.
"""
