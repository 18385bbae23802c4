#include "core/pattern.hpp"

#include <array>

#include "core/dissemination.hpp"

namespace chiplog {
namespace {

constexpr std::array<PatternFacts, pattern_count> all_patterns{{
    {Pattern::ping_pong, "ping_pong", "round-trip", Role::client, false, true, false, false, false, false},
    {Pattern::prtt, "prtt", "round-trip", Role::client, true, true, false, false, false, false},
    {Pattern::send_overhead, "send_overhead", "call", Role::client, true, true, false, true, false, true},
    {Pattern::receive_overhead, "receive_overhead", "call", Role::server, true, false, true, false, false, false},
    {Pattern::flood, "flood", "round-trip", Role::client, true, true, false, false, false, false},
    {Pattern::late_receiver, "late_receiver", "call", Role::client, false, false, true, false, true, false},
    {Pattern::one_to_many, "one_to_many", "round-trip", Role::client, false, false, false, true, false, true},
    {Pattern::pairs, "pairs", "round-trip", Role::client, true, true, false, false, false, false},
    {Pattern::pairs_one_way, "pairs", "one-way", Role::client, false, false, false, true, false, false},
    {Pattern::one_to_many_list, "one_to_many", "round-trip", Role::client, false, false, false, true, false, true},
    {Pattern::send_overhead_list, "send_overhead", "call", Role::client, true, false, false, true, false, true},
    {Pattern::barrier, "barrier", "call", Role::client, false, true, false, true, false, true},
}};

}  // namespace

std::span<const PatternFacts> patterns_by_name() { return all_patterns; }

const PatternFacts& facts_of(Pattern pattern) { return all_patterns[static_cast<std::size_t>(pattern)]; }

const PatternFacts* find_pattern(std::string_view name) {
  for (const PatternFacts& facts : all_patterns) {
    if (facts.name == name) return &facts;
  }
  return nullptr;
}

bool speaks_of(Pattern pattern, Operation operation) {
  switch (pattern) {
    case Pattern::receive_overhead:
    case Pattern::barrier:
      return !is_passive(operation);
    case Pattern::late_receiver:
      return operation == Operation::send;
    default:
      return true;
  }
}

std::int64_t busy_waits(const SeriesSetup& setup) {
  switch (setup.pattern) {
    case Pattern::ping_pong:
      return setup.batch;
    case Pattern::prtt:
      return setup.batch * (setup.train - 1);
    case Pattern::receive_overhead:
      return setup.train - 1;
    case Pattern::late_receiver:
      return 1;
    default:
      return 0;
  }
}

namespace {

// Each operation is a request and its answer. At the end every target hears that all is done; those of some patterns
// have said before that they are there.
WireCount passive_wire_count(const SeriesSetup& setup) {
  const auto message_bytes = static_cast<std::int64_t>(setup.message_bytes);
  const std::int64_t posted = setup.batch * setup.train;
  switch (setup.pattern) {
    case Pattern::ping_pong:
      return {2 * setup.batch + 1, setup.batch * message_bytes};
    case Pattern::one_to_many:
    case Pattern::one_to_many_list:
      return {4 * setup.peers, setup.peers * message_bytes};
    case Pattern::pairs:
    case Pattern::pairs_one_way:
      return {setup.pairs * (2 * posted + 4) - 2, setup.pairs * posted * message_bytes};
    default:
      return {2 * posted + setup.peers, posted * message_bytes};
  }
}

}  // namespace

WireCount wire_count(const SeriesSetup& setup) {
  if (is_passive(setup.operation)) return passive_wire_count(setup);
  const auto message_bytes = static_cast<std::int64_t>(setup.message_bytes);
  const std::int64_t sent = setup.batch * setup.train;
  switch (setup.pattern) {
    case Pattern::ping_pong:
      return {2 * setup.batch, 2 * setup.batch * message_bytes};
    case Pattern::prtt:
      return {sent + setup.batch, (sent + setup.batch) * message_bytes};
    case Pattern::flood:
      return {sent + setup.batch, sent * message_bytes};
    case Pattern::send_overhead:
    case Pattern::send_overhead_list:
      return {sent + setup.peers, sent * message_bytes};
    case Pattern::receive_overhead:
      return {sent + 1, sent * message_bytes};
    case Pattern::late_receiver:
      return {3, message_bytes};
    case Pattern::one_to_many:
    case Pattern::one_to_many_list:
      return {3 * setup.peers, 2 * setup.peers * message_bytes};
    case Pattern::pairs:
      return {setup.pairs * (sent + setup.batch) + 3 * setup.pairs - 2,
              setup.pairs * (sent + setup.batch) * message_bytes};
    case Pattern::pairs_one_way:
      return {setup.pairs * (sent + 1) + 3 * setup.pairs - 2, setup.pairs * sent * message_bytes};
    case Pattern::barrier: {
      const std::int64_t a_barrier = setup.ranks * dissemination_messages(setup.ranks, static_cast<int>(setup.peers));
      return {(setup.batch + 1) * a_barrier, (setup.batch + 1) * a_barrier * message_bytes};
    }
  }
  return {};
}

}  // namespace chiplog
