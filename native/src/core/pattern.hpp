// The measurement patterns by name, and what each puts on the wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/operation.hpp"

namespace chiplog {

struct PairGroups;

enum class Pattern {
  ping_pong,
  prtt,
  send_overhead,
  receive_overhead,
  flood,
  late_receiver,
  one_to_many,
  pairs,
  pairs_one_way,
  one_to_many_list,
  send_overhead_list,
  barrier,
};
inline constexpr std::size_t pattern_count = 12;

// Rank 0 is the client, ranks 1 to `peers` are servers; further ranks look on. In `pairs`, clients and servers are the
// first ranks of two groups, as many of each as there are pairs. In `barrier` all ranks do the same; rank 0 is the
// client.
enum class Role { client, server, onlooker };

// One series as the timed loops see it: everything is decided.
struct SeriesSetup {
  Pattern pattern = Pattern::ping_pong;
  std::size_t message_bytes = 0;
  std::int64_t train = 1;
  double delay_ns = 0.0;
  std::int64_t batch = 1;              // operations in one timed interval
  std::int64_t peers = 1;              // servers that the client addresses in turn; of a barrier, in a round
  std::int64_t pairs = 1;              // at the same time
  const PairGroups* groups = nullptr;  // between which `pairs` runs; outlives the series
  int self = 0;                        // this rank
  int partner = 1;                     // of a pair: the other one
  int ranks = 2;                       // of the run; all take part in a barrier
  Operation operation = Operation::send;
  Posting posting = Posting::normal;
};

struct PatternFacts {
  Pattern pattern;
  std::string_view name;
  std::string_view direction;  // of its samples: round-trip, one-way or call
  Role timed_by;
  bool takes_trains;  // otherwise train is 1
  bool batches;
  bool needs_delay;
  bool posts_sends;  // a train may not be longer than what the transport can have outstanding
  bool needs_synchronising_transport;
  bool takes_peers;  // otherwise peers is 1
};

[[nodiscard]] std::span<const PatternFacts> patterns_by_name();
[[nodiscard]] const PatternFacts& facts_of(Pattern pattern);
// The first of that name, null if there is none.
[[nodiscard]] const PatternFacts* find_pattern(std::string_view name);
// The pattern with its sends posted as one list; `pattern` itself if it has no such form.
[[nodiscard]] constexpr Pattern posted_as_list(Pattern pattern) {
  if (pattern == Pattern::one_to_many) return Pattern::one_to_many_list;
  return pattern == Pattern::send_overhead ? Pattern::send_overhead_list : pattern;
}
// Is this one of the patterns of k pairs?
[[nodiscard]] constexpr bool is_pairs(Pattern pattern) {
  return pattern == Pattern::pairs || pattern == Pattern::pairs_one_way;
}

struct WireCount {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

// Do its samples make sense of such operations? Patterns of the receiver need an operation that it takes part in.
[[nodiscard]] bool speaks_of(Pattern pattern, Operation operation);

// The busy waits whose durations one sample of a delayed series tells.
[[nodiscard]] std::int64_t busy_waits(const SeriesSetup& setup);

// What one sample puts on the wire, both directions, acknowledgements included.
[[nodiscard]] WireCount wire_count(const SeriesSetup& setup);

}  // namespace chiplog
