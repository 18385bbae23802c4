#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/bootstraps.hpp"
#include "chiplog/error.hpp"
#include "processes.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);
constexpr auto impatient = std::chrono::milliseconds(100);

// Runs `body` on forked ranks, rank 0 in a process of its own, and returns what became of rank 0 there. Nothing that
// it forked may be left when its bootstrap is gone.
std::string run_forked(int ranks, std::chrono::nanoseconds time_limit,
                       const std::function<std::string(Bootstrap&)>& body) {
  Process process([&]() -> std::string {
    std::string text;
    {
      const auto bootstrap = make_fork_bootstrap(ranks, time_limit);
      const bool child = bootstrap->rank() != 0;
      text = outcome_of([&] { text = body(*bootstrap); }) + text;
      if (child) _exit(0);
    }
    const bool none_left = waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
    return text + (none_left ? "" : " and a child is left");
  });
  return process.text();
}

class ForkedRanks : public ::testing::TestWithParam<int> {};

TEST_P(ForkedRanks, AgreeOnWhatRankZeroSays) {
  const std::string said = run_forked(GetParam(), patient, [](Bootstrap& bootstrap) {
    std::string heard;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3} << 20U}) {
      const std::string blob = bootstrap.broadcast(std::string(bootstrap.rank() == 0 ? size : 5, 'x'));
      for (const std::string& length : bootstrap.gather(std::to_string(blob.size()))) heard += length + " ";
    }
    return heard;
  });
  std::string expected;
  for (const std::string length : {"0 ", "1 ", "3145728 "}) {
    for (int rank = 0; rank < GetParam(); ++rank) expected += length;
  }
  EXPECT_EQ(said, expected);
}

TEST_P(ForkedRanks, AllHearFromAllInTheOrderOfTheRanks) {
  const std::string said = run_forked(GetParam(), patient, [](Bootstrap& bootstrap) {
    std::string own = std::to_string(bootstrap.rank()) + "/" + std::to_string(bootstrap.size());
    std::string heard;
    for (const std::string& blob : bootstrap.all_gather(own)) heard += blob + " ";
    for (const std::string& blob : bootstrap.gather(heard)) {
      if (blob != heard) return "disagreement: " + blob;
    }
    bootstrap.barrier();
    return heard;
  });
  std::string expected;
  for (int rank = 0; rank < GetParam(); ++rank) {
    expected += std::to_string(rank) + "/" + std::to_string(GetParam()) + " ";
  }
  EXPECT_EQ(said, expected);
}

TEST_P(ForkedRanks, AKilledOneIsReportedWithItsSignal) {
  const int victim = GetParam() - 1;
  if (victim == 0) return;
  const std::string outcome = run_forked(GetParam(), patient, [&](Bootstrap& bootstrap) -> std::string {
    if (bootstrap.rank() == victim) std::raise(SIGKILL);
    bootstrap.barrier();
    return {};
  });
  EXPECT_EQ(outcome, "PeerLost: rank " + std::to_string(victim) + " was killed by signal 9 (Killed)");
}

INSTANTIATE_TEST_SUITE_P(OneToEight, ForkedRanks, ::testing::Values(1, 2, 3, 5, 8));

TEST(ForkBootstrap, ARankThatEndsIsReportedWithItsExitCode) {
  const std::string outcome = run_forked(3, patient, [](Bootstrap& bootstrap) -> std::string {
    if (bootstrap.rank() == 1) _exit(7);
    bootstrap.barrier();
    return {};
  });
  EXPECT_EQ(outcome, "PeerLost: rank 1 ended with exit code 7");
}

std::string text_of(const std::optional<Error>& error) { return error ? error->what() : "nothing"; }

// Ranks 1 and 4 notice it before rank 0 looks.
TEST(ForkBootstrap, TheLostAreToldFromThoseThatNoticed) {
  const std::string outcome = run_forked(5, patient, [](Bootstrap& bootstrap) -> std::string {
    if (bootstrap.rank() == 2) std::raise(SIGKILL);
    if (bootstrap.rank() == 3) _exit(7);
    if (bootstrap.rank() == 0) return text_of(bootstrap.first_failure(PeerLost("rank 1 closed the connection", 1)));
    return bootstrap.tell_failure(PeerLost("rank 2 is gone", 2)) ? "" : "too soon";
  });
  EXPECT_EQ(outcome, "rank 2 was killed by signal 9 (Killed), rank 3 ended with exit code 7");
}

// Rank 0 waits for rank 1, which has sent its part of a gather before; rank 1 for rank 3; and rank 3 for rank 2, which
// says nothing.
TEST(ForkBootstrap, ASilentRankIsFoundBehindThoseThatWaitForIt) {
  const std::string outcome = run_forked(5, patient, [](Bootstrap& bootstrap) -> std::string {
    const std::vector<Rank> waits_for = {1, 3, -1, 2, 0};
    const Rank peer = waits_for[static_cast<std::size_t>(bootstrap.rank())];
    const TimedOut silence("no word from rank " + std::to_string(peer), peer);
    if (bootstrap.rank() == 0) return text_of(bootstrap.first_failure(silence));
    if (bootstrap.rank() == 1) bootstrap.gather("a part");
    if (bootstrap.rank() == 2) return bootstrap.broadcast({});
    return bootstrap.tell_failure(silence) ? "" : "too soon";
  });
  EXPECT_EQ(outcome, "rank 3: no word from rank 2");
}

TEST(ForkBootstrap, RanksThatBlameEachOtherEndTheSearch) {
  const std::string outcome = run_forked(2, patient, [](Bootstrap& bootstrap) -> std::string {
    const TimedOut silence("no word from the other", 1 - bootstrap.rank());
    if (bootstrap.rank() == 0) return text_of(bootstrap.first_failure(silence));
    return bootstrap.tell_failure(silence) ? "" : "too soon";
  });
  EXPECT_EQ(outcome, "rank 1: no word from the other");
}

TEST(ForkBootstrap, AFailureEndsAGatherWithItsExitCode) {
  const std::string outcome = run_forked(3, patient, [](Bootstrap& bootstrap) -> std::string {
    if (bootstrap.rank() == 2) return bootstrap.tell_failure(Corrupt("a byte differs")) ? "" : "too soon";
    try {
      bootstrap.gather("a part");
      return bootstrap.broadcast({});
    } catch (const Error& error) {
      return std::to_string(static_cast<int>(error.exit_code())) + " " + error.what();
    }
  });
  EXPECT_EQ(outcome, "5 rank 2: a byte differs");
}

TEST(ForkBootstrap, AnErrorThatNobodyElseHasFollowsFromNone) {
  const std::string outcome = run_forked(3, patient, [](Bootstrap& bootstrap) -> std::string {
    std::string text;
    if (bootstrap.rank() == 0) text = text_of(bootstrap.first_failure(PeerLost("rank 2 has left the run", 2)));
    bootstrap.broadcast({});
    return text;
  });
  EXPECT_EQ(outcome, "nothing");
}

// Rank 2 is lost while rank 1, which is asked first, is silent.
TEST(ForkBootstrap, ALossIsNoticedBehindASilentRank) {
  const std::string outcome = run_forked(3, patient, [](Bootstrap& bootstrap) -> std::string {
    if (bootstrap.rank() == 1) bootstrap.broadcast({});
    if (bootstrap.rank() == 2) std::raise(SIGTERM);
    bootstrap.gather("here");
    return {};
  });
  EXPECT_EQ(outcome, "PeerLost: rank 2 was killed by signal 15 (Terminated)");
}

TEST(ForkBootstrap, ASilentRankEndsInATimeLimitAndIsNotLeftBehind) {
  const std::string outcome = run_forked(2, impatient, [](Bootstrap& bootstrap) -> std::string {
    if (bootstrap.rank() == 1) {
      std::signal(SIGTERM, SIG_IGN);
      for (;;) pause();
    }
    bootstrap.barrier();
    return {};
  });
  EXPECT_EQ(outcome, "TimedOut: rank 1 has not answered within 0.1 s");
}

// Whoever sends requests to rank 0 may think for as long as he likes.
TEST(ForkBootstrap, ABroadcastIsAwaitedBeyondTheTimeLimit) {
  const std::string outcome = run_forked(2, impatient, [](Bootstrap& bootstrap) {
    if (bootstrap.rank() == 0) std::this_thread::sleep_for(3 * impatient);
    const std::string heard = bootstrap.broadcast("late");
    bootstrap.barrier();
    return heard;
  });
  EXPECT_EQ(outcome, "late");
}

TEST(ForkBootstrap, TheOthersNoticeThatRankZeroIsGone) {
  Pipe report;
  Process process([&]() -> std::string {
    const auto bootstrap = make_fork_bootstrap(2, patient);
    if (bootstrap->rank() == 1) {
      report.write(outcome_of([&] { bootstrap->broadcast({}); }));
      _exit(0);
    }
    return {};
  });
  process.text();
  EXPECT_EQ(report.read_to_end(), "PeerLost: rank 0 closed its connection");
}

TEST(ForkBootstrap, RanksAboveZeroIgnoreAnInterrupt) {
  const std::string said = run_forked(2, patient, [](Bootstrap& bootstrap) {
    if (bootstrap.rank() == 1) std::raise(SIGINT);
    std::string heard;
    for (const std::string& blob : bootstrap.all_gather("here")) heard += blob + " ";
    return heard;
  });
  EXPECT_EQ(said, "here here ");
}

// This process adopts the orphans there would be, so that it can wait for their end.
TEST(ForkBootstrap, NoRankOutlivesAKilledRankZero) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  Pipe ready;
  {
    Process root([&]() -> std::string {
      const auto bootstrap = make_fork_bootstrap(4, patient);
      bootstrap->barrier();
      if (bootstrap->rank() == 0) std::raise(SIGKILL);
      for (;;) pause();
    });
    root.text();
  }
  int killed = 0;
  int status = 0;
  while (waitpid(-1, &status, 0) > 0) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++killed;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  EXPECT_EQ(killed, 3);
}

TEST(ForkBootstrap, ABlobAboveTheLimitIsRefusedBeforeItIsSent) {
  const std::string outcome = run_forked(1, patient, [](Bootstrap& bootstrap) { return bootstrap.broadcast("alone"); });
  EXPECT_EQ(outcome, "alone");
  const std::string refused = run_forked(2, patient, [](Bootstrap& bootstrap) {
    return bootstrap.broadcast(std::string(bootstrap.rank() == 0 ? Bootstrap::max_blob_bytes + 1 : 0, 'x'));
  });
  EXPECT_EQ(kind_of(refused), "Error");
}

TEST(ForkBootstrap, NoRanksAreWrongUsage) {
  EXPECT_EQ(kind_of(outcome_of([] { make_fork_bootstrap(0, patient); })), "UsageError");
}

}  // namespace
}  // namespace chiplog::testing
