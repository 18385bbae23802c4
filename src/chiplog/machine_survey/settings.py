"""Every number that decides about a slow node, uplink or pair, with what it follows from.

"Study" is docs/studies/slow-nodes.md, which `make statistics` repeats; docs/reference/survey-method.md has the
formulas.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SurveySettings:
    """What a survey measures again, and what must show before anybody is accused."""

    most_names: int = 4
    """Given: names that a sentence lists."""
    # Who may be accused at all
    family_error: float = 0.01
    """Given: the probability that a sweep of a healthy machine accuses anybody."""
    families: int = 8
    """Derived: nodes, uplinks and pairs, of bandwidths and of latencies; bandwidths in isolation; and nodes' CPU and
    memory: so many share the error rate of a survey."""
    power_quantile: float = 1.645
    """Derived: a fault of the smallest detectable effect is found with a probability of 95 %."""
    interval_errors: float = 1.96
    """Derived: standard errors to each end of an interval of 95 %."""
    least_effect: float = 0.02
    """Given: a slowness below this is not worth a technician: never accused."""
    least_controls: int = 3
    """Given: healthy nodes from which their spread is known."""
    least_spread: float = 1e-5
    """Given: the spread of healthy nodes or pairs is taken as at least this."""
    scale_efficiency: float = 0.7
    """Study: degrees of freedom of the biweight scale, as a share of those of the standard deviation of normal values:
    with 15 values and more its t quantiles are right within a fifth up to one in 10,000, by simulation."""
    enough_for_scale: int = 15
    """Study: values from which that holds."""

    # The slowness model
    least_scale: float = 1e-4
    """Given: the spread of a class of pairs is taken as at least this, as a clock's and a counter's resolution
    gives."""
    least_in_block: int = 16
    """Given: pairs from which the shift of a block, of one round or several in a row, is estimated."""
    least_of_leaf: int = 3
    """Derived: nodes from which a leaf's uplink can be told from its nodes."""
    least_leaves: int = 3
    """Derived: leaves from which the uplink of one can be told from that of another."""
    least_each_way: int = 2
    """Given: pairs that a node must be client of, and server of, for its two directions to be told apart."""
    directed_share: float = 0.9
    """Given: the share of the nodes of which that must hold."""
    prior_pairs: int = 64
    """Given: pairs that the spread of all pairs counts as in that of one class."""
    median_steps: int = 2
    """Given: steps of the fit by medians, before those by weighted means."""
    mean_steps: int = 60
    """Given: steps of the fit by weighted means, at most."""
    done_share: float = 0.02
    """Given: the fit ends where no node's effect moves by more than this share of its standard error."""
    majority_leaves: tuple[int, int] = (4, 8)
    """Derived: numbers of leaves of which half, or more, may be slow; of more leaves most are healthy."""
    majority_errors: float = 4.0
    """Given: standard errors by which pairs across slow uplinks must be slower than the others."""
    majority_gap: float = 0.02
    """Given: the slowness by which they must be slower, at least."""

    # The sweep: who is suspected
    expected_nodes: float = 1.0
    """Given: healthy nodes that are expected among the suspects, of small machines; of large ones `suspect_share`."""
    suspect_share: float = 0.01
    """Given: the share of the healthy nodes that is expected among the suspects of a large machine."""
    most_suspect_share: float = 0.25
    """Given: the largest share of healthy nodes that may be expected among the suspects."""
    most_nodes: float = 0.25
    """Given: at most this share of the nodes is measured again; likewise of the uplinks, but for those beyond doubt."""
    expected_uplinks: float = 0.5
    """Given: healthy uplinks that are expected among the suspects."""
    most_uplink_share: float = 0.1
    """Given: the largest share of healthy uplinks that may be expected among the suspects."""
    sure_uplink: float = 1e-3
    """Given: uplinks that a healthy one would be as slow as with this probability are all measured again."""
    many_leaves: int = 8
    """Given: leaves from which the spread of their uplinks is known."""
    most_pair_share: float = 0.05
    """Given: the largest share of healthy pairs that may be expected among the suspects."""
    least_of_pairs: float = 0.25
    """Given: the share of all pairs from which single ones are judged: with fewer the nodes' effects are too
    uncertain."""
    most_pairs: int = 4
    """Given: at most so many pairs for each node are measured again: spikes must not push out what is slow for good."""
    least_of_class: int = 3
    """Derived: pairs of a node within its leaf, or to others, of which one may be slow itself without hiding in their
    median."""
    full_uplink: float = 0.9
    """Given: the share of a leaf's nodes that must send (or receive) across its uplink at once for it to count as
    full."""
    least_filled: float = 0.5
    """Derived: an uplink is judged by the median of its pairs, so a slow one shows where more than this share filled
    it."""

    # Rounds
    most_more_rounds: float = 1.25
    """Given: leaves of very different sizes leave many nodes idle. Where that takes so many times the fewest rounds,
    the circle method over the ranks, leaf by leaf, takes its place."""
    few_ranks: int = 8
    """Given: up to so many ranks, the pairs of two rounds are measured alone, too; of one round with more."""
    least_ranks: int = 6
    """Given: with fewer nodes nobody stands out from the others beyond doubt, so nothing is measured again."""
    repeats: int = 5
    """Derived: how often a round is measured again in each direction: of a pair, four of five must be slow, so no spike
    decides."""

    # Confirmation: suspects beside healthy nodes
    confirmation_rounds: int = 6
    """Given: rounds of the sweep that are measured again: in these, each node meets so many others, as in a sparse
    sweep."""
    most_confirmation_rounds: int = 32
    """Given: these, and rounds of suspected pairs, the worst first."""
    least_repeats: int = 3
    """Derived: figures of a pair from which it is judged: one spike, or two, must not decide."""
    bandwidth_quantile: float = 0.25
    """Derived: a pair is judged by the lower quartile of its bandwidths' slowness, so that most of its repeats must be
    slow."""
    latency_quantile: float = 0.0
    """Derived: what a busy machine adds to a latency is never below 0 and may be many times the latency, so its minimum
    is taken."""
    hint_error: float = 0.05
    """Given: the error rate below which an unproved suspect is still listed as inconclusive."""
    least_hint: float = 0.02
    """Given: the slowness below which it is not."""
    clearly_one_way: float = 3.0
    """Given: standard deviations between a node's two directions from which one alone is accused."""

    # Isolation: one pair, or one uplink, at a time
    most_isolated_pairs: int = 16
    """Given: pairs that are slow beside others and measured one after the other, too, as often: the worst ones."""
    most_isolated_nodes: int = 16
    """Given: nodes, likewise, each with `partners` healthy ones."""
    partners: int = 4
    """Given: healthy nodes with which a slow one is measured in isolation."""
    isolated_controls: int = 12
    """Given: other pairs that are measured beside them."""
    least_partners: int = 2
    """Given: healthy partners in isolation from which a node is judged."""
    most_isolated_uplinks: int = 4
    """Given: uplinks that are slow while others are full, and are filled alone, too, as often: the worst ones."""
    control_leaves: int = 3
    """Given: other leaves whose uplinks are filled beside them."""

    # The check of each host, without a message
    least_share_of_others: float = 0.1
    """Given: other programs that have less than this share of a node's CPUs are never accused."""
    disturbance: float = 0.1
    """Given: a visit in which the same work takes a node longer than its fastest time by more than this share is
    disturbed."""
    most_disturbed: float = 0.25
    """Given: where more than this share of the nodes are disturbed in two visits or more, nodes share CPUs with each
    other, and what one takes says nothing of it."""
    host_quantile: float = 0.25
    """Derived: a node is judged by this quantile of its visits, so that most of them must be slow; by others' median
    share."""
    least_visits: int = 3
    """Derived: visits from which a node is judged: one disturbance must not decide."""

    # Leaves as the pairs show them
    least_leaf_nodes: int = 4
    """Given: nodes from which leaves are inferred."""
    least_to_divide: int = 8
    """Given: nodes from which a group is divided again: among fewer, two spikes look like a class."""
    least_measured: float = 0.5
    """Given: the share of all pairs from which leaves are inferred: random matchings rarely pair neighbours."""
    least_gain: float = 0.01
    """Given: two classes must explain the figures better than one by this log likelihood a pair."""
    least_gain_of_all: float = 10.0
    """Given: likewise by this over all pairs, so that a few wild figures of a small group make no class."""
    spike_widths: float = 4.0
    """Given: standard deviations above the median pair beyond which a slowness counts no further: spikes make no class
    of their own."""
    least_gap: float = 4.0
    """Derived: standard deviations within a class that the two classes must be apart: a normal one, cut in half, shows
    2.7."""
    far_quantile: float = 0.75
    """Given: of a node's pairs at least a quarter are taken to be between leaves; what it costs there is the node's
    own."""
    alike: float = 0.5
    """Given: two nodes are of one leaf if they share this part of the nodes that are near to either."""
    least_grouped: float = 0.75
    """Given: the share of the nodes whose group must be clear, or else there are no groups."""
    near_within: float = 0.8
    """Given: the share of the pairs within groups that must be near, at least."""
    near_between: float = 0.2
    """Given: the share of the pairs between groups that may be near, at most."""
    thresholds_tried: int = 512
    """Given: limits between near and far that are tried."""
    grouping_rounds: int = 5
    """Given: how often nodes are put into the group that they are near to, at most."""

    # Pairs whose nodes share a CPU, classes of links, and pairs at once
    least_on_one_cpu: int = 3
    """Derived: pairs that share a CPU, and others, from which it is known what that changes: one wild figure moves no
    median."""
    resamples: int = 400
    """Given: how often the nodes of a class of links are resampled for an interval."""
    least_class_nodes: int = 4
    """Given: with fewer nodes in a class there is no interval: its pairs have too many of them in common."""
    limited_at_once: float = 0.9
    """Given: share of their bandwidth alone below which pairs at once hold each other up."""

    @property
    def worth_measuring(self) -> float:
        """Returns the slowness in the sweep from which a pair is a suspect: chance may have hidden half of it."""
        return self.least_effect / 2

    @property
    def error_of_family(self) -> float:
        """Returns the probability that a sweep of a healthy machine accuses anybody of one family."""
        return self.family_error / self.families


SETTINGS = SurveySettings()
