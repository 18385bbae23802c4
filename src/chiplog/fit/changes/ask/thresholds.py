"""Every number by which questions are chosen and paid for, with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
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
    reserved_share: float = 0.1
    """Derived: the last words cost a tenth of what leads to them (one of about 12 questions)."""
    bisect_share: float = 0.03
    """Derived: 12 questions at three changes, of the bytes that are left at each."""
    last_word_share: float = 0.10
    """Derived: up to ten places may be asked for their last word."""
    limit_share: float = 0.5
    """Derived: what all named limits may take of the bytes that are left at each of their records, shared by them."""
    scan_share: float = 0.12
    """Derived: up to eight scans, of the bytes that are left at each."""
    times: tuple[int, ...] = (1, 4, 8)
    """Derived: rounds of a question and of its repetitions; 13 times the rounds divide an error by 3.6."""
    budget_ns: tuple[int, ...] = (30_000_000, 80_000_000, 200_000_000)
    """Derived: 15 questions of the first kind at five places take 2.3 s, within the 5 s of an assessment."""
    limit_budget_ns: tuple[int, ...] = (60_000_000, 160_000_000, 400_000_000)
    """Derived: the same where a limit is named: 120 rounds of six sizes of 64 KiB over sockets, at 50 us each way."""
    scan_budget_ns: int = 150_000_000
    """Derived: eight scans take 1.2 s at most."""
    least_rounds: int = 5
    """Derived: below, trimming leaves no spread."""
    fair_rounds: int = 8
    """Derived: the fewest of which trimming by a fifth leaves five."""
    scan_rounds: int = 24
    """Derived: a step of 15 % is 3 standard errors with a noise of 24 % (3.07 standard errors of a mean)."""
    enough_scan_rounds: int = 16
    """Derived: the same with a noise of 20 %; before another quantity is looked at."""
    enough_limit_rounds: int = 64
    """Derived: a jump of 5 % between three sizes and three is 5 standard errors with a noise of 10 %."""
    min_rounds: int = 16
    """Derived: the standard error of a trimmed mean of so many is itself known to a fifth."""
    max_rounds: int = 24
    """Derived: more come by repeating the question, after its first answer was looked at."""
    most_marks: int = 3
    """Derived: three quantities that say the same are as certain as one with half the noise."""
    cost_factor: float = 2.0
    """Derived: others may add twice the cost of the cheapest quantity: a question costs at most three times as much."""
    cheap_cost: float = 1_500_000.0
    """Derived: a question that costs less is a hundredth of `least_bytes`."""
    rounds_factor: float = 8.0
    """Derived: a quantity that needs eight times the rounds adds an eighth to what the best one says."""
    bytes_per_message: int = 1000
    """Given: what a message costs beside its bytes, as bytes: 0.1 to 1 us at 1 to 10 GB/s."""
    clearance_errors: float = 8.0
    """Derived: twice `turn_errors`, so that half of the expected distance is still clear."""
    weak_rounds: float = 100.0
    """Derived: with more rounds, a bisection over sockets would take the bytes of a run."""
    checks: int = 4
    """Derived: the questions of a bisection that are no halvings."""
    step_errors: float = 3.0
    """Derived: of about 100 places that a run scans, one in four runs is halved in vain, which costs 15 questions."""
    suspect_jump: float = 0.10
    """Study: steps that are looked into where the grid is suspicious."""
    swept_jump: float = 0.15
    """Study: steps that are looked into anywhere."""
    swept_total: float = 0.25
    """Study: sum over the quantities of their steps where the grid shows nothing."""
    confirmed_jump: float = 0.15
    """Study: jump from one byte to the next where no limit is known of."""
    confirmed_alone: float = 0.10
    """Study: the same where the bytes allow for one quantity only."""
    sweeps: int = 2
    """Derived: a state of the machine hides a jump in one of ten sweeps, so in one of a hundred both; one sweep where
    the transport names its limits, since others are unlikely."""
    attempts: int = 2
    """Derived: as for `sweeps`."""
    first_swept_bytes: int = 128
    """Derived: two cache lines; below, copies step at every word and line."""
    last_swept_bytes: int = 65536
    """Given: above, a look at all sizes costs more than `most_bytes`."""
    most_swept: int = 22
    """Derived: sizes of half an octave each from 128 B to 64 KiB, and their neighbours."""
    most_around: int = 16
    """Derived: two scans of eight sizes."""
    header_bytes: int = 128
    """Given: libraries put headers of 0 to 80 B (Open MPI's rendezvous) before a payload, within two cache lines."""
    header_share: float = 0.125
    """Given: no library spends more than an eighth of a limit on its header."""


THRESHOLDS = Thresholds()
