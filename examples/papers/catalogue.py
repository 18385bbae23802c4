"""Every figure and table of the five documents: where it stands, what it shows, what draws it or why nothing does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """A figure or table. `drawn_by` names a section of the document's page; without it `reason` says why not."""

    place: str
    title: str
    drawn_by: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Document:
    """One of the five documents and all its figures and tables, in its order."""

    name: str
    source: str
    items: tuple[Item, ...]


DOCUMENTS = (
    Document(
        "loggp-prtt",
        "T. Hoefler, A. Lichei, W. Rehm: Low-overhead LogGP parameter assessment, PMEO-PDS 2007, slides",
        (
            Item("slide 4", "One message in LogGP, over time", "messages"),
            Item("slide 5", "What can be timed on one host", "tools"),
            Item("slide 11", "A train with delays", "delays"),
            Item("slide 14", "Gap over size, and its line", "example-fit"),
            Item("slide 17", "TCP over Gigabit Ethernet: gap and overhead", "tcp"),
            Item("slide 18", "InfiniBand: gap and overhead", "ofed"),
            Item("slide 19", "Myrinet: gap and overhead", "gm"),
            Item("slide 20", "SCI: gap and overhead", "sci"),
            Item("slide 21", "Table: LogGP parameters of four networks", "table"),
        ),
    ),
    Document(
        "n-way-dissemination",
        "T. Hoefler and others: Fast barrier synchronization for InfiniBand, CAC 2006, slides",
        (
            Item("principle", "One to n and back: the five steps", "principle"),
            Item("LogP prediction", "Round trip per message by LogP", "logp"),
            Item("test environment", "List of the machine's parts", "test-environment"),
            Item("benchmark results 1", "Least round trip per message on 8 nodes", "least"),
            Item("benchmark results 2", "Mean round trip per message", "mean"),
            Item("LoP", "The three parts of the LoP curve", "parts"),
            Item("dissemination", "The algorithm with any number of ranks", "any-ranks-1"),
            Item("dissemination: peers", "Who sends to whom, one peer a round", "peers-1"),
            Item("n-way dissemination", "The algorithm with any number of ranks", "any-ranks-n"),
            Item("n-way dissemination: peers", "Who sends to whom, n peers a round", "peers-n"),
            Item(
                "barrier results 1",
                "Barriers of four MPIs (here: of four algorithms)",
                "algorithms",
            ),
            Item("barrier results 2", "The same, enlarged", "barrier"),
            Item("barrier results 3", "Speed-up over MVAPICH", "speed-up"),
        ),
    ),
    Document(
        "lop",
        "T. Hoefler, W. Rehm: A communication model for small messages with InfiniBand, PARS 2005",
        (
            Item("figure 1, left", "The shape of the round trip per message", "shape"),
            Item("figure 1, right", "The shape of the overhead", "overhead-shape"),
            Item("figure 2", "The model's times of sender, adapter and receiver", "times"),
            Item("figure 3, left", "Send: least round trip per message", "send"),
            Item("figure 3, right", "Send: mean round trip per message", "send-mean"),
            Item("figure 4, left", "RDMA write: least round trip per message", "rdma-write"),
            Item("figure 4, right", "RDMA write: mean round trip per message", "rdma-write-mean"),
            Item("figure 5", "Overhead of posting, and L(p)", "overhead"),
        ),
    ),
    Document(
        "logfp",
        "T. Hoefler and others: LogfP, a model for small messages in InfiniBand, PMEO-PDS 2006, slides",
        (
            Item("LogP model", "Its parameters", "logp-model"),
            Item("principle", "One to n and back: the five steps", "principle"),
            Item("LogP prediction", "Its formula, with o_r = 0", "logp"),
            Item("LogP prediction, RTT", "Round trip per message", "logp"),
            Item("test systems", "List of three InfiniBand machines", "test-systems"),
            Item("benchmark results 1", "Round trips of 1 byte on three machines", "one-byte"),
            Item("benchmark results 2", "Round trips of 8 kB on three machines", "eight-kb"),
            Item("LogP prediction, o", "LogP's overhead is constant", "overhead-logp"),
            Item("benchmark results 3", "Overheads of 1 byte on three machines", "post-times"),
            Item("LoP: RTT model", "LoP's round trip and its three parts", "lop-round-trip"),
            Item("LoP: o model", "LoP's overhead", "lop-overhead"),
            Item("LogfP: RTT model", "LogfP's round trip with f = 7", "round-trip"),
            Item("LogfP: o model", "LogfP's overhead with 0.18 and 1.6 µs", "overhead"),
        ),
    ),
    Document(
        "max-rate",
        "W. Gropp, L. Olson, P. Samfass: Modeling MPI communication performance on SMP nodes, 2016, slides",
        (
            Item("Cray XE6", "Rate of one process over size", "cray-rates"),
            Item("Blue Gene/Q", "Rate of one process over size", "blue-gene-rates"),
            Item("one model", "SMP nodes and their links, twice", "one-model"),
            Item("large messages", "Rates observed with 1 to 16 processes", "large"),
            Item("two examples", "Paths out of a node", "two-examples"),
            Item("new model", "Parameters of three protocols (four-parameter model)", "table"),
            Item("Cray: measured data", "Times of 1 to 16 pairs over size", "cray-measured"),
            Item("Cray: 3 parameter model", "The model's times", "cray-three"),
            Item("Cray: 2 parameter model", "The postal model's times", "cray-postal-all"),
            Item("Cray XE6 (a)", "Measured", "cray-measured"),
            Item("Cray XE6 (b)", "Three parameters", "cray-three"),
            Item("Cray XE6 (c)", "Four parameters", "cray-four"),
            Item("Cray XE6 (d)", "Postal, from 1 pair", "cray-postal-1"),
            Item("Cray XE6 (e)", "Postal, from 16 pairs", "cray-postal-16"),
            Item("Cray XE6 (f)", "Postal, from 1 to 16 pairs", "cray-postal-all"),
            Item("Cray XE6 errors (a)", "Three parameters", "cray-three-errors"),
            Item("Cray XE6 errors (b)", "Four parameters", "cray-four-errors"),
            Item("Cray XE6 errors (c)", "Postal, from 1 pair", "cray-postal-1-errors"),
            Item("Cray XE6 errors (d)", "Postal, from 16 pairs", "cray-postal-16-errors"),
            Item("Cray XE6 errors (e)", "Postal, from 1 to 16 pairs", "cray-postal-all-errors"),
            *(
                item
                for machine, letters, key in (
                    ("Taub, TCP", ("a and b", "c"), "taub-tcp"),
                    ("Taub, InfiniBand", ("d and e", "f"), "taub-infiniband"),
                    ("Blue Gene/Q", ("a and b", "c"), "blue-gene"),
                    ("Blue Gene/Q, modified", ("a and b", "c"), "blue-gene-modified"),
                    ("Cisco", ("a and b", "c"), "cisco"),
                )
                for item in (
                    Item(f"{machine} ({letters[0]})", "Measured, and the model", key),
                    Item(f"{machine} ({letters[1]})", "Relative error", f"{key}-errors"),
                )
            ),
        ),
    ),
)
