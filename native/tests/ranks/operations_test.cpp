// Every pattern over every operation and posting that a transport declares. A new transport joins with a line in
// `Media`.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "bootstrap/bootstraps.hpp"
#include "core/machine_clock.hpp"
#include "core/pair_groups.hpp"
#include "media.hpp"
#include "patterns/make_endpoint.hpp"
#include "presence.hpp"
#include "processes.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);
constexpr int ranks = 3;
constexpr std::int64_t rounds = 5;

template <class Medium>
class Operations : public ::testing::Test {
 protected:
  void SetUp() override { CHIPLOG_SKIP_UNLESS_PRESENT(Medium) }
};

using Media = ::testing::Types<
#ifdef CHIPLOG_WITH_OFI
    OfiShm, OfiTcp,
#endif
#ifdef CHIPLOG_WITH_UCX
    UcxShm, UcxTcp,
#endif
    Shm>;
TYPED_TEST_SUITE(Operations, Media);

// The pair of ranks 0 and 1, as a session would find it.
const PairGroups& one_pair() {
  static const PairGroups groups{.between = {"a", "b"}, .clients = {0}, .servers = {1}};
  return groups;
}

SeriesSetup setup_of(Pattern pattern, Operation operation, Posting posting, std::size_t message_bytes) {
  SeriesSetup setup{.pattern = posting == Posting::list ? posted_as_list(pattern) : pattern,
                    .message_bytes = operation == Operation::atomic ? atomic_bytes : message_bytes,
                    .ranks = ranks,
                    .operation = operation,
                    .posting = posting};
  const PatternFacts& facts = facts_of(pattern);
  if (facts.takes_peers) setup.peers = ranks - 1;
  if (facts.takes_trains) setup.train = setup.peers == 1 ? 20 : setup.peers * (posting == Posting::list ? 1 : 10);
  const bool batches = facts.batches && posting != Posting::list;  // a list is posted once a sample
  if (batches || pattern == Pattern::pairs_one_way) setup.batch = 3;
  if (facts.needs_delay) setup.delay_ns = 1000.0;
  if (is_pairs(pattern)) setup.groups = &one_pair();
  return setup;
}

bool has_posting(const Capabilities& can, Pattern pattern, const SeriesSetup& setup) {
  if (setup.posting == Posting::in_line) {
    return can.inline_send && !is_passive(setup.operation) && setup.message_bytes <= can.max_inline_bytes;
  }
  if (setup.posting == Posting::list) return can.list_posting && posted_as_list(pattern) != pattern;
  return true;
}

// `pattern` as a request would name it: those posted as a list are another posting of theirs.
bool is_possible(const Capabilities& can, Pattern pattern, const SeriesSetup& setup) {
  const bool is_named = pattern != Pattern::one_to_many_list && pattern != Pattern::send_overhead_list;
  const bool waits = facts_of(pattern).needs_synchronising_transport;
  return is_named && !why_not(can, setup.operation) && speaks_of(pattern, setup.operation) &&
         has_posting(can, pattern, setup) && (can.synchronises || !waits);
}

// All that this transport can do, small and beyond a page.
std::vector<SeriesSetup> everything(const Capabilities& can) {
  std::vector<SeriesSetup> all;
  for (std::size_t o = 0; o < operation_names.size(); ++o) {
    for (std::size_t p = 0; p < posting_names.size(); ++p) {
      for (std::size_t pattern = 0; pattern < pattern_count; ++pattern) {
        for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{10'000}}) {
          const auto operation = static_cast<Operation>(o);
          const SeriesSetup setup = setup_of(static_cast<Pattern>(pattern), operation, static_cast<Posting>(p), bytes);
          if (is_possible(can, static_cast<Pattern>(pattern), setup)) all.push_back(setup);
        }
      }
    }
  }
  return all;
}

std::string describe(const SeriesSetup& setup) {
  return std::string(facts_of(setup.pattern).name) + " of " + std::string(name_of(setup.operation)) + ", " +
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
  endpoint.sample({&setup, 1}, rounds, {&samples, 1});
  const Rank timed_by = facts_of(setup.pattern).timed_by == Role::server ? 1 : 0;
  const std::size_t expected = rank == timed_by ? rounds : 0;
  if (samples.durations_ns.size() != expected)
    throw std::runtime_error(describe(setup) + ": not every sample was timed");
  for (const double sample_ns : samples.durations_ns) {
    if (sample_ns < 0.0) throw std::runtime_error(describe(setup) + ": a negative time");
  }
}

TYPED_TEST(Operations, RunThroughEveryPattern) {
  const auto bootstrap = make_fork_bootstrap(ranks, patient);
  const Rank rank = bootstrap->rank();
  const std::string outcome = outcome_of([&] {
    const auto endpoint = make_endpoint(
        *bootstrap, patient, [&] { return TypeParam::make(*bootstrap, patient); }, [] { return RawClock(); });
    const std::vector<SeriesSetup> all = everything(endpoint->capabilities());
    if (all.size() < 60) throw std::runtime_error("there is hardly anything to run");
    for (const SeriesSetup& setup : all) run_one(*endpoint, *bootstrap, setup);
    bootstrap->barrier();
  });
  if (rank != 0) _exit(outcome.empty() ? 0 : 1);
  EXPECT_EQ(outcome, "");
}

}  // namespace
}  // namespace chiplog::testing
