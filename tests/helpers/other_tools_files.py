"""Files in the formats of other tools, written for these tests."""

from __future__ import annotations

SEND_LATENCY = """user@node1:~$ ib_send_lat -a -F node2
---------------------------------------------------------------------------------------
                    Send Latency Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 TX depth        : 1
 Mtu             : 4096[B]
---------------------------------------------------------------------------------------
 local address: LID 0x01 QPN 0x0048 PSN 0xf5a001
 remote address: LID 0x02 QPN 0x0046 PSN 0x11d002
---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   \
99% percentile[usec]   99.9% percentile[usec]
 2       1000          0.80           4.05         0.84     \t       0.86        \t0.06\t\t0.98    \t\t4.05
 64      1000          0.90           4.15         0.94     \t       0.96        \t0.06\t\t1.08    \t\t4.15
Conflicting CPU frequency values detected: 1846.550000 != 2596.396000. CPU Frequency is not max.
 4096    1000          2.00           5.05         2.10     \t       2.16        \t0.06\t\t2.28    \t\t5.05
---------------------------------------------------------------------------------------
"""
WRITE_BANDWIDTH = """                    RDMA_Write BW Test
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 TX depth        : 128
 #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]
 4096       5000             9000.00            8000.00\t\t     2.048000
 65536      5000             11200.00           11000.00\t\t     0.176000
"""
NP_OUT_3 = """       1   2.231234   0.00000342
      64  120.562771   0.00000405
    4096 3472.222222   0.00000900
"""
NP_OUT_5 = """        1     0.004     0.004     0.005    1.90
       64     0.256     0.250     0.260    2.00
     4096     8.192     8.000     8.400    4.00
"""
NPTCP = """Send and receive buffers are 16384 and 87380 bytes
Now starting the main loop
  0:       1 bytes  24577 times -->      2.23 Mbps in       3.42 usec
  1:      64 bytes  29239 times -->    120.56 Mbps in       4.05 usec
  2:    4096 bytes  27777 times -->   3472.22 Mbps in       9.00 usec
"""
NPMPI_5 = """      Clock resolution ~   1.000 nsecs      Clock accuracy ~  40.000 nsecs

Start testing with 7 trials for each message size
  1:       1  B     81920 times -->    4.211 Mbps  in    1.900 usecs
  2:      64  B     81920 times -->  256.000 Mbps  in    2.000 usecs
  3:    4.096 KB     40960 times -->    8.192 Gbps  in    4.000 usecs
"""
ALL_REDUCE = """# nccl-tests version 2.13 nccl-headers=22005 nccl-library=22005
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 8 maxBytes 16777216 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
#
# Using devices
#  Rank  0 Group  0 Pid     17 on    node1 device  0 [0x1b] some device
#  Rank  1 Group  0 Pid     17 on    node1 device  1 [0x43] some device
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    23.45    0.00    0.00      0    22.11    0.00    0.00      0
    16777216       4194304     float     sum      -1   123.40  135.96  135.96      0   122.00  137.52  137.52    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 68.3712
"""
OLD_BROADCAST = """+ mpirun -np 2 ./build/broadcast_perf_mpi -b 8 -e 1K -f 2
# nThread 1 nGpus 1 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid     10 on    node1 device  0 [0x1b] some device
#   Rank  1 Pid     11 on    node2 device  0 [0x1b] some device
#
#                                                               out-of-place                       in-place
#       size         count    type   redop    root     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                             (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2   float               0    31.50    0.00    0.00  0e+00    30.25    0.00    0.00  0e+00
        1024           256   float               0    33.50    0.03    0.03  0e+00    32.25    0.03    0.03    N/A
# Out of bounds values : 0 OK
"""
OLD_ALL_REDUCE = """# Using devices
#   Rank  0 Pid     10 on    node1 device  0 [0x1b] some device
#   Rank  1 Pid     11 on    node2 device  0 [0x1b] some device
#
# rccl-tests: build/all_reduce_perf
#                                                       out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2   float     sum    45.50    0.00    0.00  5e-07    44.25    0.00    0.00  7e-07
        1024           256   float     sum    47.50    0.02    0.02  4e+00    46.25    0.02    0.02 2e-07*
        2048           512    half     sum    49.50    0.04    0.04  2e-03    48.25    0.04    0.04  2e-02
        4096          1024   int32     sum    51.50    0.08    0.08  0e+00    50.25    0.08    0.08  1e+00
"""
MPIGRAPH = """START mpiGraph v1.5
MsgSize\t1048576
Times\t10
Window\t50
Procs\t4

1 of 4 (25.0%)
2 of 4 (50.0%)
3 of 4 (75.0%)
Gathering results

Send max\t10500.000000
Send avg\t10100.000000

Send\tnode1:0\tnode2:1\tnode3:2\tnode4:3\t
node1:0 to\t0.000\t10500.000\t10400.000\t10300.000\t
node2:1 to\t10200.000\t0.000\t10100.000\t10000.000\t
node3:2 to\t10000.000\t10000.000\t0.000\t10000.000\t
node4:3 to\t10000.000\t10000.000\t10000.000\t0.000\t

Recv max\t10000.000000
Recv avg\t9000.000000

Recv\tnode1:0\tnode2:1\tnode3:2\tnode4:3\t
node1:0 from\t0.000\t10000.000\t10000.000\t5000.000\t
node2:1 from\t10000.000\t0.000\t10000.000\t5000.000\t
node3:2 from\t8000.000\t10000.000\t0.000\t5000.000\t
node4:3 from\t10000.000\t10000.000\t10000.000\t0.000\t
END mpiGraph
"""
LINKTEST = """         0          0         0.00000000         0.00000000
         0          1         0.00001250     10000.00000000
         0          2         0.00001250     10000.00000000
         1          0         0.00001250     10000.00000000
         1          1         0.00000000         0.00000000
         1          2         0.00002500      5000.00000000
         2          0         0.00001250     10000.00000000
         2          1         0.00001251      9992.00639488
         2          2         0.00000000         0.00000000
"""
FILES = {
    "perftest": SEND_LATENCY + WRITE_BANDWIDTH,
    "netpipe": NP_OUT_3,
    "nccl-tests": ALL_REDUCE,
    "mpigraph": MPIGRAPH,
    "linktest": LINKTEST,
}
"""One file of each tool."""
