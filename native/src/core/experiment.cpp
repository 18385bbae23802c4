#include "core/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "chiplog/error.hpp"
#include "chiplog/median.hpp"
#include "core/collect.hpp"
#include "core/interruption.hpp"

namespace chiplog {
namespace {

// What is not timed costs large messages most of their bytes, and is least needed: they fill caches and links anyhow.
constexpr std::size_t large_bytes = 32UL * 1024;
constexpr std::int64_t warmup_samples(std::size_t message_bytes) { return message_bytes <= large_bytes ? 2 : 1; }
constexpr std::int64_t round_trips_for_a_delay(std::size_t message_bytes) {
  return message_bytes <= large_bytes ? 5 : 3;
}
constexpr std::int64_t fewest_samples = 3;
constexpr std::int64_t max_batch = 10'000;
constexpr double max_posted_bytes = 16'384;
// An interruption is heard between chunks.
constexpr double longest_chunk_ns = 500e6;
// Agreeing on a chunk takes far less than such a round of large messages: the samples before are its warm-up.
constexpr double long_round_ns = 50e6;
constexpr std::int64_t longest_virtual_chunk = 1000;
// A timed interval is at least this many steps of the clock, and this many times what reading the clock costs: a step
// is an error of either sign, but the reading is always part of the interval.
constexpr double steps_a_sample = 100.0;
constexpr double clock_reads_a_sample = 400.0;
// Reading the clock is taken off in the analysis, so it's no reason to send many large messages for one sample.
constexpr double batched_bytes = 4096.0;
// Sends that are posted one after the other are another operation than one send: the second finds what the first left.
// So they are taken together only where the clock would hardly see one, and its overhead is left to the analysis.
constexpr double steps_a_post = 20.0;
constexpr std::chrono::microseconds placement_patience{20'000};

// The traffic of a payload check: two messages, or an operation and its target's announcement.
WireCount wire_count_of_check(const SeriesSetup& setup) {
  const auto bytes = static_cast<std::int64_t>(setup.message_bytes);
  return is_passive(setup.operation) ? WireCount{3, bytes} : WireCount{2, 2 * bytes};
}

std::string_view word_for(Stop stop) { return stop == Stop::precision ? "precision" : "samples"; }

StoppingRule::Settings rule_settings(const StopRequest& stop, double resolution_ns) {
  return {stop.relative_half_width, static_cast<std::size_t>(stop.min_samples),
          static_cast<std::size_t>(stop.max_samples), resolution_ns};
}

}  // namespace

Experiment::Experiment(Endpoint& endpoint, Bootstrap& bootstrap, Witnesses witnesses,
                       std::chrono::nanoseconds time_limit, std::span<const PairGroups> pair_groups,
                       const MeasureRequest& request)
    : endpoint_(endpoint),
      bootstrap_(bootstrap),
      witnesses_(witnesses),
      time_limit_(time_limit),
      request_(request),
      rank_(bootstrap.rank()),
      samples_(request.series.size()),
      unused_(request.series.size()),
      rule_(rule_settings(request.stop, endpoint.clock_facts().resolution_ns), request.series.size()),
      reference_(endpoint.patterns()) {
  for (const SeriesRequest& series : request.series) {
    setups_.push_back(setup_of(series, bootstrap.size()));
    if (series.pattern->takes_pair_groups) setups_.back().groups = choose_pair_groups(pair_groups, series.between);
    largest_bytes_ = std::max(largest_bytes_, series.message_bytes);
  }
  record_.series.resize(request.series.size());
  for (SeriesSetup setup : setups_) {
    setup.message_bytes = largest_bytes_;
    endpoint_.reserve(setup);
  }
}

Record Experiment::run() {
  const std::vector<Counter> before = endpoint_.counters();
  if (request_.check_payload) check_payloads();
  measure_placement();
  resolve_delays();
  measure_wait_overhead();
  warm_up();
  choose_batches();
  warm_up_batched();
  keep_long_warmup();
  take_samples();
  collect_spent_delays();
  collect_counters(before);
  record_.reference = reference_.times();
  record_.elapsed_ns = elapsed_ns();
  for (std::size_t i = 0; i < setups_.size(); ++i) {
    record_.series[i].setup = setups_[i];
    record_.series[i].warmup = warmup_rounds_;
    record_.series[i].samples_ns = std::move(samples_[i].durations_ns);
    record_.series[i].by_pair_ns = std::move(samples_[i].by_pair_ns);
  }
  return std::move(record_);
}

std::int64_t Experiment::elapsed_ns() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - start_).count();
}

void Experiment::collect_counters(const std::vector<Counter>& before) {
  record_.counters = endpoint_.counters();
  if (record_.counters.empty()) return;
  std::vector<double> here;
  for (std::size_t i = 0; i < before.size(); ++i) {
    here.push_back(static_cast<double>(record_.counters[i].count - before[i].count));
    record_.counters[i].count = 0;
  }
  for (const std::string& rank : bootstrap_.gather(pack(here))) {
    const std::vector<double> there = unpack(rank, here.size());
    for (std::size_t i = 0; i < there.size(); ++i) {
      record_.counters[i].count += static_cast<std::uint64_t>(there[i]);
    }
  }
}

std::vector<double> Experiment::agree(const std::vector<double>& numbers) {
  return unpack(bootstrap_.broadcast(leads() ? pack(numbers) : std::string{}), numbers.size());
}

void Experiment::count_traffic(std::size_t series, const WireCount& count, std::int64_t times) {
  record_.series[series].wire.messages += times * count.messages;
  record_.series[series].wire.bytes += times * count.bytes;
}

// Each size once over each link, by each operation and posting; the two messages are counted for the first series.
void Experiment::check_payloads() {
  std::set<std::tuple<std::size_t, Link, Operation, Posting>> checked;
  std::string verdict;
  for (std::size_t i = 0; i < setups_.size(); ++i) {
    const SeriesSetup& setup = setups_[i];
    for (const Link& link : setup.pattern->links(setup)) {
      if (link.client == link.server) continue;  // a rank that works alone sends nothing
      if (!checked.insert({setup.message_bytes, link, setup.operation, setup.posting}).second) continue;
      count_traffic(i, wire_count_of_check(setup), 1);
      const auto mismatch = endpoint_.check_payload(setup, link);
      if (mismatch && verdict.empty()) {
        verdict = "a message of " + std::to_string(setup.message_bytes) + " bytes arrived damaged at rank " +
                  std::to_string(rank_) + ": " + *mismatch;
      }
    }
  }
  std::string first;
  for (const std::string& other : bootstrap_.gather(verdict)) {
    if (first.empty()) first = other;
  }
  first = bootstrap_.broadcast(first);
  if (!first.empty()) throw Corrupt(first);
  record_.payload_checked = true;
}

void Experiment::measure_placement() {
  if (witnesses_.placement == nullptr || rank_ > 1) return;
  record_.placement_ns = witnesses_.placement->round_trip_ns(rank_, placement_patience);
}

void Experiment::sample_reference(std::int64_t rounds) {
  const std::int64_t own_rounds = reference_.sample(endpoint_, rounds);
  for (const SeriesSetup& setup : reference_.setups()) count_traffic(0, setup.pattern->wire_count(setup), own_rounds);
}

std::vector<double> Experiment::sample_apart(const SeriesSetup& setup, std::int64_t rounds) {
  SeriesSamples samples;
  endpoint_.sample({&setup, 1}, rounds, {&samples, 1});
  return std::move(samples.durations_ns);
}

void Experiment::resolve_delays() {
  std::map<std::tuple<std::size_t, DelayKind, Operation, Posting>, double> found;
  std::vector<double> delays_ns;
  for (std::size_t i = 0; i < setups_.size(); ++i) {
    const DelayKind kind = request_.series[i].delay_kind;
    if (kind != DelayKind::given) {
      const auto [at, is_new] =
          found.try_emplace({setups_[i].message_bytes, kind, setups_[i].operation, setups_[i].posting}, 0.0);
      if (is_new) {
        const std::int64_t train = kind == DelayKind::one_message_round_trip ? 1 : 2;
        const SeriesSetup round_trip{.pattern = &get_pattern(endpoint_.patterns(), "prtt"),
                                     .message_bytes = setups_[i].message_bytes,
                                     .train = train,
                                     .operation = setups_[i].operation,
                                     .posting = setups_[i].posting};
        const std::int64_t round_trips = round_trips_for_a_delay(round_trip.message_bytes);
        count_traffic(i, round_trip.pattern->wire_count(round_trip), round_trips);
        const std::vector<double> samples_ns = sample_apart(round_trip, round_trips);
        if (leads()) at->second = median_of(samples_ns);
      }
      setups_[i].delay_ns = at->second;
    }
    delays_ns.push_back(setups_[i].delay_ns);
  }
  if (found.empty()) return;
  delays_ns = agree(delays_ns);
  for (std::size_t i = 0; i < setups_.size(); ++i) {
    setups_[i].delay_ns = delays_ns[i];
    const double longest_ns = 0.5 * static_cast<double>(time_limit_.count());
    if (static_cast<double>(setups_[i].train + 1) * delays_ns[i] > longest_ns) {
      throw UsageError("field 'series[" + std::to_string(i) + "].train' times the round trip found, " +
                       std::to_string(std::llround(delays_ns[i])) + " ns, must stay below half of the time limit");
    }
  }
}

bool Experiment::is_delayed() const {
  return std::any_of(setups_.begin(), setups_.end(), [](const SeriesSetup& setup) { return setup.delay_ns > 0.0; });
}

void Experiment::measure_wait_overhead() {
  if (is_delayed() && rank_ <= 1) wait_overhead_ns_ = endpoint_.busy_wait_overhead_ns();
}

void Experiment::collect_spent_delays() {
  if (!is_delayed()) return;
  std::vector<double> here_ns;
  for (const SeriesSamples& samples : samples_) {
    here_ns.push_back(samples.waits_ns.empty() ? 0.0 : median_of(samples.waits_ns) + wait_overhead_ns_);
  }
  const std::vector<std::string> all = bootstrap_.gather(pack(here_ns));
  if (!leads()) return;
  const std::vector<double> server_ns = unpack(all[1], setups_.size());
  for (std::size_t i = 0; i < setups_.size(); ++i) {
    record_.series[i].spent_delay_ns = std::max(here_ns[i], server_ns[i]);
  }
}

void Experiment::sample(std::int64_t rounds) {
  const auto begin = SteadyClock::now();
  endpoint_.sample(setups_, rounds, samples_);
  sampling_time_ += SteadyClock::now() - begin;
  timed_rounds_ += rounds;
  for (std::size_t i = 0; i < setups_.size(); ++i) count_traffic(i, setups_[i].pattern->wire_count(setups_[i]), rounds);
  collect_from_server(bootstrap_, setups_, rounds, samples_);
  collect_from_pairs(bootstrap_, setups_, rounds, samples_);
}

void Experiment::warm_up() {
  warmup_rounds_ = warmup_samples(largest_bytes_);
  sample(warmup_rounds_);
}

// Posting a large message may take as little time as posting a small one, and would put as many on the wire.
double Experiment::most_posted(const SeriesSetup& setup) const {
  const double bytes = static_cast<double>(std::max<std::size_t>(setup.message_bytes, 1));
  const double affordable = std::max(max_posted_bytes / bytes, static_cast<double>(setup.train));
  const auto outstanding = static_cast<double>(endpoint_.max_posted_sends());
  const double unanswered = is_write(setup.operation) ? static_cast<double>(most_unanswered_writes) : outstanding;
  return std::min({outstanding, unanswered, affordable}) / static_cast<double>(setup.train);
}

void Experiment::choose_batches() {
  const ClockFacts clock = endpoint_.clock_facts();
  const double shortest_post_ns = steps_a_post * clock.resolution_ns;
  const double shortest_other_ns = steps_a_sample * clock.resolution_ns;
  const double unseen_reads_ns = clock_reads_a_sample * clock.overhead_ns;
  std::vector<double> batches;
  for (const SeriesSetup& setup : setups_) batches.push_back(static_cast<double>(setup.batch));
  for (std::size_t i = 0; leads() && i < setups_.size(); ++i) {
    const Batches batched = setups_[i].pattern->batches;
    if (batched == Batches::none) continue;
    const double interval_ns = *std::min_element(samples_[i].durations_ns.begin(), samples_[i].durations_ns.end());
    const double sample_ns = interval_ns / static_cast<double>(setups_[i].batch);
    const auto reach = [sample_ns](double shortest_ns, double most) {
      return std::min(std::ceil(shortest_ns / std::max(sample_ns, shortest_ns / max_batch)), most);
    };
    const double cheap = batched_bytes / static_cast<double>(std::max<std::size_t>(setups_[i].message_bytes, 1));
    const double wanted = batched == Batches::posts
                              ? reach(shortest_post_ns, most_posted(setups_[i]))
                              : std::max(reach(shortest_other_ns, max_batch), reach(unseen_reads_ns, cheap));
    const auto multiple = static_cast<double>(setups_[i].pattern->batch_multiple);
    batches[i] = std::max(batches[i], std::ceil(std::floor(wanted) / multiple) * multiple);
  }
  batches = agree(batches);
  for (std::size_t i = 0; i < setups_.size(); ++i) setups_[i].batch = static_cast<std::int64_t>(batches[i]);
}

// A series keeps one batch size throughout, so what was taken with the smallest batches has served its purpose.
void Experiment::warm_up_batched() {
  const bool batched = std::any_of(setups_.begin(), setups_.end(), [](const SeriesSetup& setup) {
    return setup.pattern->batches != Batches::none && setup.batch > setup.pattern->batch_multiple;
  });
  if (!batched) return;
  for (SeriesSamples& samples : samples_) samples.clear();
  warm_up();
}

// Where even the quickest pair's large messages took longer than the whole record may, what came first is its sample:
// such messages take far longer than whatever a first one has to wait for.
void Experiment::keep_long_warmup() {
  const bool by_pair = std::all_of(setups_.begin(), setups_.end(),
                                   [](const SeriesSetup& setup) { return setup.pattern->records_each_pair; });
  if (!by_pair || largest_bytes_ <= large_bytes || endpoint_.clock_facts().is_virtual) return;
  double quickest_ns = std::numeric_limits<double>::infinity();
  for (const SeriesSamples& samples : samples_) {
    for (const std::vector<double>& pair_ns : samples.by_pair_ns) {
      for (const double ns : pair_ns) quickest_ns = std::min(quickest_ns, ns);
    }
  }
  const bool is_long = std::isfinite(quickest_ns) && quickest_ns >= static_cast<double>(request_.stop.budget_ns);
  if (agree({leads() && is_long ? 1.0 : 0.0}).front() == 0.0) return;
  rounds_ = warmup_rounds_;
  warmup_rounds_ = 0;
  if (witnesses_.reference) sample_reference(rounds_);
}

void Experiment::feed_rule() {
  for (std::size_t i = 0; i < setups_.size(); ++i) {
    for (std::int64_t at = fed_rounds_; at < rounds_; ++at) {
      rule_.add(i, samples_[i].durations_ns[static_cast<std::size_t>(warmup_rounds_ + at)]);
    }
  }
  fed_rounds_ = rounds_;
}

double Experiment::round_ns() const {
  return std::max(static_cast<double>(sampling_time_.count()) / static_cast<double>(timed_rounds_), 1.0);
}

// The rounds that come before a chunk's samples, for what its ranks did meanwhile.
std::int64_t Experiment::warmup_of_chunk() const {
  const bool is_long = largest_bytes_ > large_bytes && round_ns() >= long_round_ns;
  return is_long && !endpoint_.clock_facts().is_virtual ? 0 : 1;
}

// The number of rounds that fit into the budget, beside the chunk's own warm-up.
std::int64_t Experiment::affordable_rounds() const {
  const auto left_ns = static_cast<double>(std::max<std::int64_t>(request_.stop.budget_ns - elapsed_ns(), 0));
  return static_cast<std::int64_t>(left_ns / round_ns()) - warmup_of_chunk();
}

// Each chunk draws noise of its own for its warm-up: in virtual time, how long the chunks are must not depend on how
// busy the machine is, or the same seed would give other samples. There the budget ends a record between two chunks,
// and shortens one only where it has room for a few samples.
std::int64_t Experiment::longest_chunk(std::int64_t affordable_rounds) const {
  if (endpoint_.clock_facts().is_virtual && affordable_rounds > fewest_samples) return longest_virtual_chunk;
  return std::min(affordable_rounds,
                  std::max<std::int64_t>(static_cast<std::int64_t>(longest_chunk_ns / round_ns()), 1));
}

std::int64_t Experiment::next_rounds() {
  feed_rule();
  const StoppingRule::Verdict verdict = rule_.assess();
  record_.relative_half_width = verdict.relative_half_width;
  const StopRequest& stop = request_.stop;
  if (interrupted()) {
    record_.stopped = "interrupted";
    return 0;
  }
  if (verdict.stop != Stop::go_on) {
    record_.stopped = word_for(verdict.stop);
    return 0;
  }
  const std::int64_t fewest = std::min(fewest_samples, stop.max_samples);
  const std::int64_t affordable = std::max(affordable_rounds(), rounds_ == 0 ? fewest : 0);
  if (affordable <= 0) {
    record_.stopped = "budget";
    return 0;
  }
  const std::int64_t wanted =
      rounds_ < stop.min_samples ? stop.min_samples - rounds_ : std::max<std::int64_t>(rounds_ / 4, 5);
  return std::min({wanted, longest_chunk(affordable), stop.max_samples - rounds_});
}

void Experiment::warm_up_chunk(std::int64_t rounds) {
  if (rounds == 0) return;
  endpoint_.sample(setups_, rounds, unused_);
  for (std::size_t i = 0; i < setups_.size(); ++i) {
    unused_[i].clear();
    count_traffic(i, setups_[i].pattern->wire_count(setups_[i]), rounds);
  }
}

void Experiment::take_samples() {
  while (true) {
    std::vector<double> decided{0.0, 0.0};
    if (leads()) decided = {static_cast<double>(next_rounds()), static_cast<double>(warmup_of_chunk())};
    decided = agree(decided);
    const auto rounds = static_cast<std::int64_t>(decided[0]);
    if (rounds == 0) return;
    warm_up_chunk(static_cast<std::int64_t>(decided[1]));
    sample(rounds);
    if (witnesses_.reference) sample_reference(rounds);
    rounds_ += rounds;
  }
}

}  // namespace chiplog
