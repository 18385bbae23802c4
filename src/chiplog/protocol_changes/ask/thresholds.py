"""Every number by which questions are chosen and paid for, with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AskThresholds:
    """Numbers of the room `ask`. Bytes are those on the wire, of a whole run.

    `docs/numbers/protocol-changes.md` has the derivations and the series that show what they give.
    """

    run_bytes: int = 980_000_000
    """Given: a default assessment stays below 1 GB, of which 2 % are left for what can't be planned."""
    least_bytes: int = 150_000_000
    """Derived: what one bisection at 64 KiB and the last words need (12 questions of 16 rounds of 3 sizes)."""
    most_bytes: int = 400_000_000
    """Given: what the grid leaves of a default assessment over sockets, where 65 KiB have to be told from one more."""
    least_seconds: float = 0.8
    """Given: what the grid leaves of the 5 s of a default assessment; after that, nothing new is looked into."""
    seconds_share: float = 0.25
    """Given: the same on slow networks, of what the grid took."""
    least_rounds: int = 8
    """Derived: the fewest of which trimming by a fifth leaves five; below, there is no spread to speak of."""
    first_rounds: int = 16
    """Derived: the standard error of a trimmed mean of so many is itself known to a fifth. A step of 15 % is 3 standard
    errors with a noise of 20 %."""
    records: int = 4
    """Derived: of one question, each twice as long as the one before: 15 times the rounds divide an error by four."""
    checks: int = 4
    """Derived: the questions about a place that are no halvings: whether it is there, its last word, and that one twice
    more after some time."""
    most_marks: int = 3
    """Derived: three quantities that say the same are as certain as one with half the noise."""
    bytes_per_message: int = 1000
    """Given: what a message costs beside its bytes, as bytes: 0.1 to 1 us at 1 to 10 GB/s."""
    unnamed_jump: float = 0.15
    """Study: steps that are looked into, and jumps from one byte to the next that count, where no limit is known of."""
    swept_total: float = 0.25
    """Study: sum over the quantities of their steps where the grid shows nothing."""
    sweeps: int = 2
    """Derived: a state of the machine hides a jump in one of ten sweeps, so in one of a hundred both; one sweep where
    the transport names its limits, since others are unlikely. Any other answer is asked for as often, too."""
    last_swept_bytes: int = 65536
    """Given: above, a look at all sizes costs more than `most_bytes`."""
    header_share: float = 0.125
    """Given: no library spends more than an eighth of a limit on its header."""


THRESHOLDS = AskThresholds()
