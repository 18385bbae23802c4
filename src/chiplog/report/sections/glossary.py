"""What every number means, in a sentence or two: the report is read offline."""

from __future__ import annotations

from collections.abc import Mapping

from chiplog.report.document import Fact, Facts, Inline, Section, line, symbol
from chiplog.report.input import ReportInput
from chiplog.report.names import SYMBOLS

MEANINGS: Mapping[str, str] = {
    "half_round_trip": (
        "Half the time from sending a message to having received the answer of the same size, PRTT(1,0,s)/2. Called "
        "one-way time here; it is the true one only if both directions are alike."
    ),
    "L_half": (
        "Latency by its common definition, half a round trip of one byte: PRTT(1,0,1)/2. It contains both overheads."
    ),
    "L": (
        "Latency in the strict sense of LogP: L_half minus o_s minus o_r, the time that a byte spends between the two "
        "processors."
    ),
    "o_s": (
        "Send overhead: time for which the sender's processor is busy with one message. From trains with a computing "
        "delay d between messages: [PRTT(n,d,s) − PRTT(m,d,s)]/(n−m) − d; m = 1 has no delay."
    ),
    "o_r": (
        "Receive overhead: time for which the receiver's processor is busy with one message that has already arrived."
    ),
    "g": (
        "Gap: the least time between the starts of two one-byte messages, the inverse of the message rate. Where o_s "
        "or o_r exceeds it, the CPU is slower than the network: gaps don't show then, and g has an upper bound only."
    ),
    "gap": "Time that each further message of a train adds: g + (s−1)·G, or o_s where that is longer.",
    "G": "Gap per byte: time that each further byte of a long message adds. 1/G is the bandwidth.",
    "S": "Synchronisation size of LogGPS: above it the sender waits for the receiver (rendezvous).",
    "alpha": "Hockney's start-up time: half round trip = alpha + s/R.",
    "R": "Hockney's asymptotic bandwidth: half round trip = alpha + s/R.",
    "n_half": "Size at which Hockney's model reaches half its bandwidth: alpha·R.",
    "O_s": "Send overhead per byte of LogGOPS: growth of o_s with the size, which LogGP does not have.",
    "O_r": "Receive overhead per byte of LogGOPS: growth of o_r with the size.",
    "O": "Overhead per byte of LogGOPS: growth of o_s with the size, which LogGP does not have.",
    "change": (
        "A size above which the transport works differently, e.g. from eager to rendezvous. Given as the interval "
        "between the last size measured before and the first one after; one byte wide where it was bisected."
    ),
    "regime": (
        "A range of sizes over which one line predicts. Its borders are the protocol changes and the sizes where the "
        "cost of a byte changes, e.g. where a cache is full; the latter are called slope changes."
    ),
    "jump": (
        "Relative step of the time at a protocol change, (after − before)/before, in the series that shows it best."
    ),
    "crossing": (
        "Where the lines of the two protocols meet: the best place for the switch. “Never”: one protocol is faster at "
        "all sizes."
    ),
    "interval": (
        "From a bootstrap over launches, visits and samples of one state of the machine. Where the ranks were launched "
        "several times, repeating the run in that state should give a value inside it 19 times of 20. From one launch "
        "it doesn't cover what launches differ by; never what another state, placement or setting would change."
    ),
    "not-identified": (
        "The data can't tell the value: any number in a wide range would fit as well. What is printed is the bound "
        "that the data leave, as < 145 ns, where they leave any."
    ),
    "error": (
        "|predicted − measured| / measured. The median says how good a typical prediction is, the worst how bad one "
        "can be."
    ),
    "factor": (
        "exp(mean |ln(predicted/measured)|): 1.10 means off by 10 % either way. Unlike the relative error it also "
        "grows without limit for predictions that are too low."
    ),
    "parameters": "How many numbers were fitted, over all regimes: more of them fit better, and say less.",
    "held-out": "Points that the model was not fitted to, so that its error there is a prediction's.",
    "cost": "Messages, bytes (both directions) and seconds that the measurements behind a fit took, warm-up included.",
    "prtt": (
        "n messages of s bytes, d seconds of computing between them; the server answers once after all n. Hoefler, "
        "Lichei, Rehm: Low-overhead LogGP parameter assessment, 2007."
    ),
    "culler": (
        "o_s from a few sends, o_r with a delay longer than a round trip, g by flooding, L = RTT/2 − o_r − o_s. "
        "Culler, Liu, Martin, Yoshikawa 1996; Iannello, Lauria, Mercolino 1998."
    ),
    "kielmann": (
        "pLogP: o_s of a single send, o_r of the copy on receive, g(s) by flooding, L = RTT(0)/2 − g(0). Kielmann, "
        "Bal, Verstoep 2000."
    ),
    "bell": (
        "The delay between messages is adjusted until delay + overhead equals the gap; o_s is what is left. Bell, "
        "Bonachea et al. 2003."
    ),
    "reference": (
        "A fixed exchange of 1-byte messages that goes along with every record: half round trip, gap and send overhead "
        "(with a clock reading). It tells in which state cores, caches and transport were, whatever the record itself "
        "measured."
    ),
    "one-to-many": (
        "Rank 0 sends one message to each of p peers, each answers at once, rank 0 waits for all: RTT(p). o_s(p) is "
        "the time to post p sends, divided by p."
    ),
    "f": (
        "How many messages of one process the network takes before a gap g counts between them (LogfP). It is a whole "
        "number, fitted jointly with L and g."
    ),
    "f_argmin": "The p at which RTT(p)/p is least. It is often taken for f, and is not: it depends on L and g too.",
    "o_min": "LogfP's send overhead after very many sends: o(p) = o_min + o_max/p.",
    "o_max": "What the first send costs beyond o_min: o(p) = o_min + o_max/p.",
    "pairs": (
        "k pairs of processes exchange messages at once; the time is that of the slowest pair, half of its round trip."
    ),
    "s0": "Start-up time of a message between one of k pairs of processes.",
    "R_C": "Rate at which one process sends, whatever the others do.",
    "R_Cb": "Rate of the first process, in the model with four parameters.",
    "R_Ci": "Rate that each further process adds, in the model with four parameters.",
    "R_N": (
        "Rate at which a node sends, however many of its processes do. Not identified where the most pairs that were "
        "measured don't reach it."
    ),
    "k_sat": "The number of pairs at which the node saturates, R_N/R_C: from there on more senders don't help.",
    "s_k": "Start-up time that each further pair adds, before the node's rate is reached.",
    "G_k": "Time per byte that each further pair adds, before the node's rate is reached.",
    "g_N": "Time that a node needs for each message of any of its pairs, besides its bytes.",
    "oversubscribed": (
        "There were more ranks than CPUs, so ranks took turns: times include the scheduler's, and are not the "
        "network's."
    ),
    "placement": (
        "How far apart the two ranks' cores are, told by a bare flag exchange through shared memory just before each "
        "record. On virtual machines it changes while running; numbers of different states are not comparable."
    ),
    "visit": (
        "A launch is a start of the ranks, a visit one pass over all sizes in shuffled order, a record one size's "
        "series of samples, taken interleaved."
    ),
    "clock": (
        "tsc: the processor's time-stamp counter, calibrated against the kernel's raw clock. Its step is the least "
        "difference it shows; what is timed lasts at least 100 steps, in batches if need be."
    ),
    "governor": "How the kernel chooses the clock frequency. Anything but “performance” adds noise.",
    "binding": "The CPUs that each rank may run on.",
}
"""By anchor, in the order in which they are shown."""
TITLES: Mapping[str, str] = {
    "half_round_trip": "half round trip",
    "change": "protocol change",
    "interval": "95 % interval",
    "not-identified": "not identified",
    "error": "relative error",
    "held-out": "held out",
    "prtt": "PRTT(n,d,s)",
    "culler": "Culler's method",
    "kielmann": "Kielmann's method",
    "bell": "Bell's method",
    "one-to-many": "one to many (1:n n:1)",
    "placement": "placement state",
    "visit": "launch, visit, record",
}
"""Of those whose anchor is not their title."""


def section(report: ReportInput) -> Section | None:
    """The glossary; entries are the targets of links all over the report."""
    facts = tuple(Fact(_title(anchor), line(words), anchor) for anchor, words in MEANINGS.items())
    return Section("glossary", line("What the numbers mean"), (Facts(facts),), in_terminal=False)


def _title(anchor: str) -> Inline:
    return (symbol(anchor),) if anchor in SYMBOLS else line(TITLES.get(anchor, anchor))
