"""From a dataset to parameters with intervals: what is identified, and how well it predicts.

The way there: one value per series (`location`), one value per quantity and size (`quantities`), straight lines over
the sizes of one protocol (`line`), and the parameters that each method reads from them (`methods`). Every step
carries the same bootstrap replicates along, so that differences keep their correlations.
"""
