"""Models of point-to-point communication: one small file each, found through entry points.

A model turns parameters into seconds; how parameters are found is `chiplog.fit`'s business.
"""
