"""Files in the formats of Netgauge, written for these tests."""

from __future__ import annotations

SAMPLES = "#size\trtt\n" + "".join(
    f"{size}\t{start + 0.125 * index:.6f}\n"
    for size, start in ((4, 2.0), (8, 3.0))
    for index in range(4)
)
SUMMARY = """# Sysname : Linux
## Netgauge v2.4.6 - mode mpi - 2 processes
##
## A...message size [byte]
##
## B...minimum send blocking time
##
## A  -  B  C  D  E  (F G) - H  I  J  K  (L M)  -  N  O  P  Q
1 - 0.35 0.41 0.40 1.20 (0.05 3) - 1.90 2.10 2.05 9.80 (0.30 4) - 0.82 3.81 3.90 4.21
1024 - 0.45 0.51 0.50 1.30 (0.05 3) - 2.90 3.10 3.00 9.90 (0.30 4) - 820.0 2640.0 2730.67 2824.8
"""
VERBOSE = """# Info:   (0): Netgauge v2.4.6 MPI enabled (P=2, threadlevel=0) (./netgauge -v -m mpi -x one_one )
## A  -  B  C  D  E - F  G  H  I - J  K  L  M
1 - 0.35 0.41 0.40 1.20 - 1.90 2.10 2.05 9.80 - 0.82 3.81 3.90 4.21
"""
PRINTED = """# Info:   (0): Netgauge v2.4.6 MPI enabled (P=2, threadlevel=0) (./netgauge -c 1000 -m mpi -x one_one )
# initializing MPI_Wtime timer
# Info:   (0): writing data to ng.out
1 bytes \t -> 1.90 us \t == 4.00 Mbit/s
1024 bytes \t -> 2.90 us \t == 2048.00 Mbit/s
"""
LOST_TIMES = """# Benchmark Method: selfish
# Nodename: node1
# Selfish Benchmark
# Minimal cycle length [ns]: 237.977191
#
# Time [ns]\tselfish duration [ns]
0.00\t8821.15
30276.10\t17642.31
# CPU overhead due to noise: 0.64%
# Measurement period: 0.01 s
"""
