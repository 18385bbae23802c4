// One record: what every rank does from a request to its samples.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "chiplog/stopping.hpp"
#include "core/endpoint.hpp"
#include "core/placement.hpp"
#include "core/record.hpp"
#include "core/reference.hpp"
#include "core/request.hpp"

namespace chiplog {

// What tells in which state the machine was while a record was taken.
struct Witnesses {
  PlacementPage* placement = nullptr;  // null where ranks 0 and 1 share no memory
  bool reference = false;
};

// Every rank makes one for each request and calls `run`. Rank 0 decides, the others hear of it over the bootstrap;
// between two decisions nothing but the transport is used.
class Experiment {
 public:
  // `pair_groups` holds those that the request names.
  Experiment(Endpoint& endpoint, Bootstrap& bootstrap, Witnesses witnesses, std::chrono::nanoseconds time_limit,
             std::span<const PairGroups> pair_groups, const MeasureRequest& request);

  // The record on rank 0, an empty one elsewhere. UsageError, on all ranks alike, if the request turns out to outlast
  // the time limit; Corrupt, on all ranks alike, if a payload arrives damaged.
  Record run();

 private:
  using SteadyClock = std::chrono::steady_clock;

  void check_payloads();
  void measure_placement();
  void sample_reference(std::int64_t rounds);
  void resolve_delays();
  [[nodiscard]] bool is_delayed() const;
  void measure_wait_overhead();
  void warm_up();
  [[nodiscard]] double most_posted(const SeriesSetup& setup) const;
  void choose_batches();
  void warm_up_batched();
  void keep_long_warmup();
  void take_samples();
  void warm_up_chunk(std::int64_t rounds);
  [[nodiscard]] std::int64_t warmup_of_chunk() const;

  // On rank 0: how many rounds come next. 0 means to stop; the reason is noted.
  std::int64_t next_rounds();
  [[nodiscard]] std::int64_t affordable_rounds() const;
  [[nodiscard]] std::int64_t longest_chunk(std::int64_t affordable_rounds) const;
  // What one round has taken so far, on average.
  [[nodiscard]] double round_ns() const;
  void feed_rule();
  // Takes samples, counts them as traffic, and brings what other ranks timed to rank 0.
  void sample(std::int64_t rounds);
  // What the busy waits of each series took on the rank that waits, for rank 0.
  void collect_spent_delays();
  // What all ranks have counted since `before`, on rank 0.
  void collect_counters(const std::vector<Counter>& before);
  void count_traffic(std::size_t series, const WireCount& count, std::int64_t times);
  std::vector<double> sample_apart(const SeriesSetup& setup, std::int64_t rounds);

  [[nodiscard]] bool leads() const { return rank_ == 0; }
  [[nodiscard]] std::int64_t elapsed_ns() const;
  // Gives all ranks the numbers of rank 0.
  std::vector<double> agree(const std::vector<double>& numbers);

  Endpoint& endpoint_;
  Bootstrap& bootstrap_;
  Witnesses witnesses_;
  std::chrono::nanoseconds time_limit_;
  const MeasureRequest& request_;
  Rank rank_;
  SteadyClock::time_point start_ = SteadyClock::now();

  Record record_;
  std::vector<SeriesSetup> setups_;
  std::vector<SeriesSamples> samples_;
  std::vector<SeriesSamples> unused_;
  double wait_overhead_ns_ = 0.0;
  StoppingRule rule_;
  std::size_t largest_bytes_ = 0;
  std::int64_t warmup_rounds_ = 0;
  std::int64_t rounds_ = 0;  // after warm-up
  std::int64_t fed_rounds_ = 0;
  std::int64_t timed_rounds_ = 0;  // all, for the time that one takes
  std::chrono::nanoseconds sampling_time_{0};
  Reference reference_;
};

}  // namespace chiplog
