// Every pattern over every operation and posting that a transport declares.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "../worlds.hpp"
#include "core/pair_groups.hpp"
#include "patterns/list.hpp"

namespace chiplog::conformance {
namespace {

constexpr int operating_ranks = 3;
constexpr std::int64_t sampled_rounds = 5;

template <class World>
class Operations : public ::testing::Test {
 protected:
  void SetUp() override { CHIPLOG_REQUIRE_PRESENT(World) }
};

TYPED_TEST_SUITE(Operations, Worlds, WorldNames);

// The pair of ranks 0 and 1, as a session would find it.
const PairGroups& one_pair() {
  static const PairGroups groups{.between = {"a", "b"}, .clients = {0}, .servers = {1}};
  return groups;
}

SeriesSetup setup_with(const Pattern& named, Operation operation, Posting posting, std::size_t message_bytes) {
  const Pattern& pattern = posting == Posting::list && named.as_list != nullptr ? *named.as_list : named;
  SeriesSetup setup{.pattern = &pattern,
                    .message_bytes = operation == Operation::atomic ? atomic_bytes : message_bytes,
                    .ranks = operating_ranks,
                    .operation = operation,
                    .posting = posting};
  if (pattern.takes_peers) setup.peers = operating_ranks - 1;
  if (pattern.takes_trains) setup.train = setup.peers == 1 ? 20 : setup.peers * (pattern.train_is_peers ? 1 : 10);
  const bool has_windows = pattern.direction == "one-way";
  if (pattern.batches != Batches::none || has_windows) setup.batch = 3;
  if (pattern.delay == Delay::needed) setup.delay_ns = 1000.0;
  if (pattern.takes_pair_groups) setup.groups = &one_pair();
  return setup;
}

bool has_posting(const Capabilities& can, const Pattern& named, const SeriesSetup& setup) {
  if (setup.posting == Posting::in_line) {
    return can.inline_send && !is_passive(setup.operation) && setup.message_bytes <= can.max_inline_bytes;
  }
  if (setup.posting == Posting::list) return can.list_posting && named.as_list != nullptr;
  return true;
}

// Whether a request can ask for it by this name; those posted as a list are another posting of theirs.
bool is_named(const Pattern& pattern) {
  return std::none_of(AllPatterns::facts.begin(), AllPatterns::facts.end(),
                      [&](const Pattern* other) { return other->as_list == &pattern; });
}

bool is_possible(const Capabilities& can, const Pattern& named, const SeriesSetup& setup) {
  return is_named(named) && !why_not(can, setup.operation) && named.supports(setup.operation) &&
         has_posting(can, named, setup) && (can.synchronises || !named.needs_synchronising_transport) &&
         (can.posts_receives || !named.needs_posted_receives);
}

// All that this transport can do, small and beyond a page.
std::vector<SeriesSetup> everything(const Capabilities& can) {
  std::vector<SeriesSetup> all;
  for (std::size_t o = 0; o < operation_names.size(); ++o) {
    for (std::size_t p = 0; p < posting_names.size(); ++p) {
      for (const Pattern* pattern : AllPatterns::facts) {
        for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{10'000}}) {
          const auto operation = static_cast<Operation>(o);
          const SeriesSetup setup = setup_with(*pattern, operation, static_cast<Posting>(p), bytes);
          if (is_possible(can, *pattern, setup)) all.push_back(setup);
        }
      }
    }
  }
  return all;
}

std::string describe(const SeriesSetup& setup) {
  return std::string(setup.pattern->name) + " of " + std::string(name_of(setup.operation)) + ", " +
         std::string(name_of(setup.posting)) + ", " + std::to_string(setup.message_bytes) + " bytes";
}

void run_one(Endpoint& endpoint, Bootstrap& bootstrap, const SeriesSetup& setup) {
  const Rank rank = bootstrap.rank();
  endpoint.reserve(setup);
  for (const Link link : {Link{0, 1}, Link{0, 2}, Link{0, 1}}) {
    if (const auto mismatch = endpoint.check_payload(setup, link)) {
      throw std::runtime_error(describe(setup) + ": " + *mismatch);
    }
  }
  bootstrap.barrier();  // no write of the samples may come upon what is still compared
  SeriesSamples samples;
  endpoint.sample({&setup, 1}, sampled_rounds, {&samples, 1});
  const bool timed_here = setup.pattern->position(setup, rank).role == setup.pattern->timed_by &&
                          (setup.pattern->timed_by == Role::client || rank == 1);
  const std::size_t expected = timed_here ? sampled_rounds : 0;
  if (samples.durations_ns.size() != expected)
    throw std::runtime_error(describe(setup) + ": not every sample was timed");
  for (const double sample_ns : samples.durations_ns) {
    if (sample_ns < 0.0) throw std::runtime_error(describe(setup) + ": a negative time");
  }
}

TYPED_TEST(Operations, RunThroughEveryPattern) {
  const Outcomes outcomes = TypeParam::run_endpoints(operating_ranks, [](Bootstrap& bootstrap, Endpoint& endpoint) {
    const std::vector<SeriesSetup> all = everything(endpoint.capabilities());
    if (all.size() < 20) throw std::runtime_error("there is hardly anything to run");
    for (const SeriesSetup& setup : all) run_one(endpoint, bootstrap, setup);
    bootstrap.barrier();
  });
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, "");
}

}  // namespace
}  // namespace chiplog::conformance
