"""Output of smptest and nodecomm, written for these tests."""

from __future__ import annotations

SMPTEST = """Saving 0 1000 4.00e-03
Saving 1 1000 5.00e-03
Min time

Ints\t1       \t2       \t4       \t16
1\t2.00e-06\t2.10e-06\t2.40e-06\t3.00e-06\t
256\t4.00e-06\t4.20e-06\t4.80e-06\t9.00e-06\t
Max time

Ints\t1       \t2       \t4       \t16
1\t2.60e-06\t2.70e-06\t2.90e-06\t3.60e-06\t
256\t4.60e-06\t4.70e-06\t4.90e-06\t9.60e-06\t
Average time

Ints\t1       \t2       \t4       \t16
1\t2.20e-06\t2.30e-06\t2.50e-06\t3.20e-06\t
256\t4.20e-06\t4.40e-06\t4.90e-06\t9.20e-06\t

Information on the selection of ntest used in these tests
Model ntest = 1.00e+02 * 1.00e-09 / (2 * (2.00e-06 + 1.00e-09 * len))
Ints\tntest\test time\tact time
1\t1000\t4.00e-03\t4.10e-03
256\t1000\t4.50e-03\t5.10e-03
"""
MINIMUM = (
    "Min time\n\nInts\t1       \t8       \n1\t2.00e-06\t2.80e-06\t\n1024\t9.00e-06\t2.00e-05\t\n"
)
PARTNERS = """Pingpong for
master:  0, 1
partner: 4, 5
1\t4.00e-06\t4.34e-06\t
2\t3.98e-06\t4.26e-06\t
Pingpong for
master:  0, 2
partner: 1, 3
1\t0.80e-06\t0.85e-06\t
2\t0.81e-06\t0.86e-06\t
"""
OVERLAP = """Pingpong for
master:  0, 1
partner: 4, 5
1\t10\t4.00e-06\t1.00e-07\t4.05e-06\t4.34e-06\t1.10e-07\t4.40e-06\t
2\t20\t4.10e-06\t2.00e-07\t4.15e-06\t4.44e-06\t2.10e-07\t4.50e-06\t
"""
