// Many ranks, silent ranks, and what comes after an error.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "../worlds.hpp"
#include "core/payload.hpp"
#include "patterns/all_pairs.hpp"
#include "patterns/views/plain_messages.hpp"

namespace chiplog::conformance {
namespace {

constexpr auto impatient = std::chrono::milliseconds(200);

template <class World>
class SeveralRanks : public ::testing::Test {
 protected:
  void SetUp() override { CHIPLOG_REQUIRE_PRESENT(World) }
};

TYPED_TEST_SUITE(SeveralRanks, Worlds, WorldNames);

// Ranks that wait in virtual time have no time limit.
#define CHIPLOG_TIMED_TEST(Name)                                                                              \
  [[maybe_unused]] const bool Name##_is_noted = note_case(                                                    \
      Worlds(), "SeveralRanks", #Name, "a time limit",                                                        \
      []<class World>() { return std::bool_constant<!offers<typename World::Tested, ability::Settles>>(); }); \
  TYPED_TEST(SeveralRanks, Name)

// More ranks than this machine may have cores; in each step every rank has one peer.
TYPED_TEST(SeveralRanks, ExchangeMessagesEveryTwoOfSix) {
  constexpr int ranks = 6;
  constexpr std::size_t bytes = 20'000;
  const Outcomes outcomes = TypeParam::run(ranks, [](Bootstrap& bootstrap, auto& transport) {
    auto buffer = transport.make_buffer(bytes);
    for (int step = 0; step < ranks; ++step) {
      const Rank self = bootstrap.rank();
      const Rank peer = (step + ranks - self) % ranks;
      if (peer == self) continue;
      const auto salt = [&](Rank from) { return static_cast<std::uint64_t>(ranks * step + from); };
      for (const Rank sender : {std::min(self, peer), std::max(self, peer)}) {
        if (sender == self) {
          fill_payload({buffer.data(), bytes}, salt(self));
          transport.send(peer, buffer, bytes);
        } else {
          const std::size_t received = transport.recv(peer, buffer, bytes);
          const auto mismatch = find_mismatch({buffer.data(), received}, salt(peer));
          if (received != bytes || mismatch) throw std::runtime_error(mismatch.value_or("wrong length"));
        }
      }
    }
    for (const std::string& done : bootstrap.gather("done")) {
      if (done != "done") throw std::runtime_error("a rank is not done");
    }
  });
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, "");
}

// What the ranks of one case see, whether they are processes or fibers.
struct SharedCount {
  std::atomic<int> under_way{0};
  std::atomic<int> most{0};

  static SharedCount& make() {
    void* memory = mmap(nullptr, sizeof(SharedCount), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return *new (memory) SharedCount;
  }
  void begin() {
    const int now = ++under_way;
    int before = most.load();
    while (before < now && !most.compare_exchange_weak(before, now)) {
    }
  }
};

// Also from one sample to the next: otherwise the first pairs would have their next ones while the last have theirs.
TYPED_TEST(SeveralRanks, TakeTurnsWhereThePairsOfARoundAreNotAtOnce) {
  constexpr int ranks = 6;
  constexpr int samples = 20;
  SharedCount& count = SharedCount::make();
  const auto body = [&count]<class T>(Bootstrap& bootstrap, T& transport) {
    using Pairs = patterns::AllPairs;
    RawClock clock;
    const RankSettings self{.rank = bootstrap.rank(), .ranks = ranks, .time_limit = time_limit};
    Workspace<views::PlainMessages<T>, RawClock> work(transport, clock, self, 64);
    SeriesSetup setup{.pattern = &Pairs::pattern, .ranks = ranks};
    setup.settings[patterns::detail::at_once] = 0;
    const Position position = setup.pattern->position(setup, bootstrap.rank());
    setup.self = bootstrap.rank();
    setup.partner = position.partner;
    const auto exchange = [&] {
      count.begin();
      for (int i = 0; i < 5; ++i) {
        work.messages.send(setup.partner, work.out, 1);
        work.messages.recv(setup.partner, work.in, 1);
      }
      --count.under_way;
    };
    const auto answer = [&] {
      for (int i = 0; i < 5; ++i) {
        work.messages.recv(setup.partner, work.in, 1);
        work.messages.send(setup.partner, work.out, 1);
      }
    };
    const Part part = position.role == Role::client ? patterns::detail::in_round(work, setup, exchange)
                                                    : patterns::detail::in_turn(work, setup, answer);
    for (int i = 0; i < samples; ++i) part();
  };
  for (const std::string& outcome : TypeParam::run(ranks, body)) EXPECT_EQ(outcome, "");
  EXPECT_EQ(count.most.load(), 1);
  munmap(&count, sizeof(SharedCount));
}

CHIPLOG_TIMED_TEST(EndTheWaitForASilentRank) {
  const auto body = [](Bootstrap& bootstrap, auto& transport) {
    auto buffer = transport.make_buffer(1);
    if (bootstrap.rank() == 1) bootstrap.broadcast({});
    transport.recv(1, buffer, 1);
  };
  EXPECT_EQ(TypeParam::run(2, body, impatient)[0], "TimedOut: no word from rank 1 within 0.2 s");
}

CHIPLOG_TIMED_TEST(EndTheWaitForARankThatTakesNothing) {
  const auto body = [](Bootstrap& bootstrap, auto& transport) {
    constexpr std::size_t bytes = std::size_t{1} << 20U;
    auto buffer = transport.make_buffer(bytes);
    if (bootstrap.rank() == 1) bootstrap.broadcast({});
    for (;;) transport.send(1, buffer, bytes);
  };
  EXPECT_EQ(TypeParam::run(2, body, impatient)[0], "TimedOut: no word from rank 1 within 0.2 s");
}

TYPED_TEST(SeveralRanks, AreOverOnceOneHasFailed) {
  // Some notice only that nothing more comes.
  constexpr auto limit = std::chrono::seconds(1);
  const auto body = [](Bootstrap& bootstrap, auto& transport) {
    auto buffer = transport.make_buffer(100);
    if (bootstrap.rank() == 1) {
      transport.send(0, buffer, 100);
      bootstrap.broadcast({});
    }
    const std::string first = testing::outcome_of([&] { transport.recv(1, buffer, 10); });
    const std::string second = testing::outcome_of([&] { transport.recv(1, buffer, 10); });
    throw std::runtime_error(testing::kind_of(first) + ", then " + (second.empty() ? "a message" : "an error"));
  };
  EXPECT_EQ(TypeParam::run(2, body, limit)[0], "failure: Truncated, then an error");
}

}  // namespace
}  // namespace chiplog::conformance
