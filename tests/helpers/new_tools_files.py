# ruff: noqa: E501  # rows as wide as the tools print them
"""Files of libfabric's, UCX's and whole machines' benchmarks, small and of the form that the tools print."""

from __future__ import annotations

import io
import tarfile

TAGGED_PINGPONG = """$ fi_rdm_tagged_pingpong -p tcp -I 1000 n2
bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec
64      1k      125k        0.02s      6.40      10.00       0.10
1k      1k      2m          0.03s     81.92      12.50       0.08
1.5k    1k      2.9m        0.03s    102.40      15.00       0.07
64k     1k      125m        0.10s   1310.72      50.00       0.02
"""
RDM_BANDWIDTH = """./fi_rdm_bw -p tcp -W 32 n2
bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec
64      1k      62k         0.00s    853.33       0.08      13.33
64k     1k      62m         0.01s  10922.67       6.00       0.17
"""
FI_PINGPONG = """bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
64      10k     =10k     1.2m        0.08s     16.00       4.00       0.25
4k      10k     +3       78m         0.10s    819.20       5.00       0.20
1m      10k     =10k     19g         1.00s  20971.52      50.00       0.02
"""
MACHINE_READABLE = """---
fi_rma_pingpong -o write -m n2 :
- { xfer_size: 100, iterations: 1000, total: 200000, time: 0.005000, MB/sec: 40.000000, usec/xfer: 2.500000, Mxfers/sec: 0.400000 }
"""
UCX_RULE = "+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+\n"
UCX_HEADER = f"""+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |        latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
{UCX_RULE}|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
{UCX_RULE}"""
UCX_ROWS = """[thread 0]             50000      9.900    10.000    10.000      381.47     381.47      100000      100000
Final:                 90000      9.900    12.500    11.111      305.18     343.32       80000       90000
"""
UCX_UNNAMED = UCX_HEADER + UCX_ROWS
UCX_TITLES = """+----------------------------------------------------------------------------------------------------------+
| API:          protocol layer                                                                             |
| Test:         get latency / bandwidth / message rate                                                     |
| Data layout:  (automatic)                                                                                |
| Send memory:  host                                                                                       |
| Recv memory:  cuda                                                                                       |
| Message size: 4000                                                                                       |
| Window size:  1                                                                                          |
"""
UCX_OLD = """+ ucx_perftest -t tag_bw -s 1048576 -n 1000 n2
+--------------+-----------------------------+---------------------+-----------------------+
|              |       latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+---------+---------+---------+----------+----------+-----------+-----------+
| # iterations | typical | average | overall |  average |  overall |   average |   overall |
+--------------+---------+---------+---------+----------+----------+-----------+-----------+
          500    90.000   100.000   100.000    10000.00   10000.00       10000       10000
         1000    90.000    80.000    90.000    12500.00   11111.11       12500       11111
"""
UCX_CSV = """msg_pow2,test_types_uct,iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
8,am_short_lat,2000000,0.500,0.510,0.512,14.96,14.90,1960784,1953125
8,put_short_bw,2000000,0.050,0.051,0.050,149.59,152.59,19607843,20000000
8,cswap,2000000,1.500,1.510,1.512,5.05,5.05,662252,661376
"""
GPCNET = """NetworkLoad Tests v1.3
  Test with 40 MPI ranks (20 nodes)
  4 nodes running Network Tests
  16 nodes running Congestion Tests (min 100 nodes per congestor)

  Legend
   RR = random ring communication pattern
   Lat = latency
   BW = bandwidth
   BW+Sync = bandwidth with barrier
+------------------------------------------------------------------------------+
|                            Isolated Network Tests                            |
+---------------------------------+--------------+--------------+--------------+
|                            Name |          Avg |          99% |        Units |
+---------------------------------+--------------+--------------+--------------+
|          RR Two-sided Lat (8 B) |          2.5 |          4.5 |         usec |
+---------------------------------+--------------+--------------+--------------+
| RR Two-sided BW+Sync (131072 B) |        500.0 |        250.0 |   MiB/s/rank |
+---------------------------------+--------------+--------------+--------------+
|        Multiple Allreduce (8 B) |         12.5 |         50.0 |         usec |
+---------------------------------+--------------+--------------+--------------+

+------------------------------------------------------------------------------+
|                  Network Tests running with Congestion Tests                 |
+---------------------------------+--------------+--------------+--------------+
|                            Name |          Avg |          99% |        Units |
+---------------------------------+--------------+--------------+--------------+
|          RR Two-sided Lat (8 B) |          5.0 |         40.0 |         usec |
+---------------------------------+--------------+--------------+--------------+

+------------------------------------------------------------------------------+
|           Network Tests running with Congestion Tests - Key Results          |
+---------------------------------+--------------------------------------------+
|                            Name |                   Congestion Impact Factor |
+---------------------------------+----------------------+---------------------+
|                                 |                  Avg |                 99% |
+---------------------------------+----------------------+---------------------+
|          RR Two-sided Lat (8 B) |                 2.0X |                8.9X |
+---------------------------------+----------------------+---------------------+
"""
DETAIL = """#Nnodes    Message_size 0                    1                    5
2          8            10.50(0.25)          12.25(0.50)          9.75                 10.50(0.25)
2          64           11.00(0.25)          12.50(0.50)          9.50(1.00)           11.00(0.25)
4          8            20.00(0.25)          22.00(0.50)          No data              20.00(0.25)
"""
ALLREDUCE = """$ mpirun -np 16 ./osu_allreduce -f
# OSU MPI Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                       4.50              4.25              4.75        1000
1024                    9.00              8.50              9.50        1000
"""
BARRIER = """# OSU MPI Barrier Latency Test v7.4
# Avg Latency(us)
             2.25
"""
NON_BLOCKING = """# OSU MPI Non-blocking All-to-All Latency Test v7.4
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Size           Overall(us)       Compute(us)    Coll. Init(us)    Pure Comm.(us)        Overlap(%)
8                      30.50             18.25              1.00             12.50             44.29
"""
BOTH_WAYS = """# OSU MPI Bi-Directional Bandwidth Test v7.4
# Size      Bandwidth (MB/s)
8                      128.00
65536                20000.00
"""
IMB = """# Benchmarking Allreduce
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier )
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         1.00         1.50         1.25
# Benchmarking Allreduce
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         2.00         2.50         2.25
# Benchmarking Barrier
# #processes = 4
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         3.00         3.50         3.25
# Benchmarking Ibcast
# #processes = 4
       #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]
           16         1000        12.00         6.50         6.00        50.00
# Benchmarking PingPing
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            8         1000         4.50         1.78
"""
PICO_STAMP = "2025_01_02___03_04_05"
PICO_HEADER = "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,gpu_awareness\n"
PICO_METADATA = (
    f"{PICO_HEADER}{PICO_STAMP},0,2x2,2,ALLREDUCE,OMPI,no\n{PICO_STAMP},1,4,1,ALLGATHER,OMPI,yes\n"
)
PICO_FILES = {
    "alloc.csv": "MPI_Rank,allocation\n0,n0\n1,n1\n",
    "0/256_default_ompi_int32.csv": "highest\n9000\n8000\n5000\n5100\n5200\n5300\n5400\n5500\n5600\n5700\n",
    "0/256_ring_segmented_ompi_65536_int32.csv": "highest\n7000\n7100\nAverage runtime: 0.000007\n",
    "1/1024_default-ring_int64.csv": "highest,rank0,rank1\n3000,2900,3000\n3100,3100,2800\n",
}


def pico_archive(files: dict[str, str], stamp: str = PICO_STAMP) -> bytes:
    """The bytes of a packed archive of a job's files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{stamp}/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


QPERF = """tcp_lat:
    latency   =  13.9 us
    msg_size  =     1 bytes
    time      =     1 sec
tcp_lat:
    latency   =  1.25 ms
    msg_size  =     4 KiB (4,096)
    time      =     1 sec
tcp_lat:
    latency   =  14.1 us
    msg_size  =     1 bytes
rc_rdma_write_poll_lat:
    latency   =  870 ns
    msg_size  =    8 bytes
tcp_bw:
    bw        =  993 MB/sec
    msg_size  =    4 KiB (4,096)
"""
NEW_FILES = (
    ("fabtests", TAGGED_PINGPONG + RDM_BANDWIDTH),
    ("fabtests", FI_PINGPONG),
    ("fabtests", MACHINE_READABLE),
    ("ucx-perftest", UCX_UNNAMED),
    ("ucx-perftest", UCX_TITLES + UCX_HEADER + UCX_ROWS + UCX_OLD),
    ("ucx-perftest", UCX_CSV),
    ("qperf", QPERF),
    ("gpcnet", GPCNET),
    ("ompi-collectives-tuning", DETAIL),
    ("osu", ALLREDUCE + BARRIER),
    ("osu", BOTH_WAYS + NON_BLOCKING),
    ("imb", IMB),
)
"""Kinds with a file of each, for whoever damages them."""
