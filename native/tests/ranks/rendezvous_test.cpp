#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/bootstraps.hpp"
#include "bootstrap/meeting.hpp"
#include "impostor.hpp"
#include "processes.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);
constexpr auto impatient = std::chrono::milliseconds(300);
constexpr std::string_view secret = "the right one";

// A port that nobody has right now.
std::uint16_t free_port() {
  return static_cast<std::uint16_t>(port_of(local_address(listen_at(resolve("127.0.0.1", 0)).get())));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::unique_ptr<Bootstrap> meet(std::uint16_t port, Rank rank, int size, std::chrono::nanoseconds limit = patient,
                                std::string_view with = secret) {
  return make_rendezvous_bootstrap({"127.0.0.1", port}, rank, size, with, limit);
}

std::string hear_all(Bootstrap& bootstrap) {
  std::string heard;
  for (const std::string& blob : bootstrap.all_gather(std::to_string(bootstrap.rank()))) heard += blob + " ";
  bootstrap.barrier();
  return heard;
}

// Connects like anybody could; tries until somebody listens.
FileDescriptor connect_as_stranger(std::uint16_t port) {
  const SocketAddress address = resolve("127.0.0.1", port);
  for (;;) {
    FileDescriptor fd(socket(AF_INET, SOCK_STREAM, 0));
    if (connect(fd.get(), address.get(), static_cast<socklen_t>(address.bytes.size())) == 0) return fd;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

class MeetingRanks : public ::testing::TestWithParam<int> {};

TEST_P(MeetingRanks, MeetWhateverTheOrderInWhichTheyStart) {
  const int size = GetParam();
  const std::uint16_t port = free_port();
  std::string expected;
  for (int rank = 0; rank < size; ++rank) expected += std::to_string(rank) + " ";
  const auto texts = run_ranks(size, [&](int started) {
    const auto bootstrap = meet(port, size - 1 - started, size);
    return hear_all(*bootstrap);
  });
  for (const std::string& text : texts) EXPECT_EQ(text, expected);
}

INSTANTIATE_TEST_SUITE_P(OneToEight, MeetingRanks, ::testing::Values(1, 2, 3, 5, 8));

TEST(Rendezvous, AWrongSecretEndsInAnErrorOnBothSides) {
  const std::uint16_t port = free_port();
  const auto texts = run_ranks(2, [&](int rank) {
    meet(port, rank, 2, rank == 0 ? impatient : patient, rank == 0 ? secret : "a wrong one");
    return std::string("met");
  });
  EXPECT_EQ(kind_of(texts[0]), "TimedOut");
  EXPECT_TRUE(contains(texts[0], "rank 1")) << texts[0];
  EXPECT_TRUE(contains(texts[0], "a wrong secret was offered")) << texts[0];
  EXPECT_EQ(kind_of(texts[1]), "Error");
  EXPECT_TRUE(contains(texts[1], "wrong secret")) << texts[1];
  EXPECT_TRUE(contains(texts[1], "CHIPLOG_SECRET")) << texts[1];
}

TEST(Rendezvous, AnEmptySecretIsRefused) {
  EXPECT_EQ(kind_of(outcome_of([] { meet(1, 0, 2, impatient, ""); })), "UsageError");
}

TEST(Rendezvous, WhoFindsNobodyGivesUpInTime) {
  const std::uint16_t port = free_port();
  const std::string outcome = outcome_of([&] { meet(port, 1, 2, impatient); });
  EXPECT_EQ(kind_of(outcome), "TimedOut");
  EXPECT_TRUE(contains(outcome, "127.0.0.1:" + std::to_string(port))) << outcome;
}

TEST(Rendezvous, AbsentRanksAreNamed) {
  const std::uint16_t port = free_port();
  Process second([&]() -> std::string {
    meet(port, 2, 4)->broadcast({});
    return "heard";
  });
  const std::string outcome = outcome_of([&] { meet(port, 0, 4, std::chrono::seconds(1)); });
  EXPECT_EQ(outcome, "TimedOut: no connection from rank 1, 3 within 1 s");
  EXPECT_EQ(kind_of(second.text()), "PeerLost");
}

TEST(Rendezvous, AnUnknownHostIsWrongUsage) {
  const std::string outcome =
      outcome_of([] { make_rendezvous_bootstrap({"no.such.host.invalid", 4711}, 1, 2, secret, impatient); });
  EXPECT_EQ(kind_of(outcome), "UsageError");
}

TEST(Rendezvous, APortThatIsTakenIsNamed) {
  const FileDescriptor taken = listen_at(resolve("127.0.0.1", 0));
  const auto port = static_cast<std::uint16_t>(port_of(local_address(taken.get())));
  const std::string outcome = outcome_of([&] { meet(port, 0, 2, impatient); });
  EXPECT_TRUE(contains(outcome, "127.0.0.1:" + std::to_string(port) + ": Address already in use")) << outcome;
}

// Each kind of stranger connects before the ranks do, and stays.
class Strangers : public ::testing::TestWithParam<int> {
 protected:
  static void misbehave(std::uint16_t port, int kind) {
    constexpr int crowd = 300;
    std::vector<FileDescriptor> connections;
    for (int i = 0; i < (kind == 4 ? crowd : 1); ++i) connections.push_back(connect_as_stranger(port));
    const int fd = connections.front().get();
    const std::string rubbish(100'000, 'r');
    if (kind == 1) connections.clear();
    if (kind == 2) send(fd, rubbish.data(), rubbish.size(), MSG_NOSIGNAL);
    if (kind == 3) send(fd, "CHIPLOG2", 8, MSG_NOSIGNAL);
    if (kind == 5) {
      const linger reset{1, 0};
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      connections.clear();
    }
    for (;;) pause();
  }
};

TEST_P(Strangers, KeepNobodyFromMeeting) {
  const std::uint16_t port = free_port();
  const Process stranger([&]() -> std::string {
    misbehave(port, GetParam());
    return {};
  });
  const auto texts = run_ranks(3, [&](int rank) {
    // The stranger first.
    if (rank > 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return hear_all(*meet(port, rank, 3));
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "0 1 2 ");
}

INSTANTIATE_TEST_SUITE_P(SilentLeavingRubbishHalfManyResetting, Strangers, ::testing::Range(0, 6));

// What listens is no rank 0: it says nothing, hangs up, or sends rubbish.
TEST(Rendezvous, AStrangerThatListensIsNotTakenForRankZero) {
  for (const std::string said : {"nothing", "goodbye", "rubbish"}) {
    const FileDescriptor listener = listen_at(resolve("127.0.0.1", 0));
    const auto port = static_cast<std::uint16_t>(port_of(local_address(listener.get())));
    const Process stranger([&]() -> std::string {
      const FileDescriptor caller(accept(listener.get(), nullptr, nullptr));
      const std::string rubbish(4096, 'r');
      if (said == "rubbish") send(caller.get(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL);
      if (said == "goodbye") return {};
      for (;;) pause();
    });
    const std::string outcome = outcome_of([&] { meet(port, 1, 2, said == "nothing" ? impatient : patient); });
    const std::string expected = said == "nothing" ? "TimedOut" : said == "goodbye" ? "PeerLost" : "Corrupt";
    EXPECT_EQ(kind_of(outcome), expected) << outcome;
  }
}

// It gives a verdict to anybody, but can't prove that it knows the secret.
TEST(Rendezvous, AListenerWithoutTheSecretIsNotTakenForRankZero) {
  for (const auto judgement :
       {Judgement::accepted, Judgement::wrong_secret, Judgement::wrong_size, Judgement::wrong_rank}) {
    const FileDescriptor listener = listen_at(resolve("127.0.0.1", 0));
    const auto port = static_cast<std::uint16_t>(port_of(local_address(listener.get())));
    const Process impostor([&] { return answer_without_the_secret(listener, judgement); });
    const std::string outcome = outcome_of([&] { meet(port, 1, 2); });
    EXPECT_TRUE(contains(outcome, "wrong secret")) << outcome;
  }
}

// Who passes every byte on, between a caller that found it and the rank 0 that it found, hears what both say.
TEST(Rendezvous, AnAnswerThroughARelayIsRefusedByBothEnds) {
  const FileDescriptor relay = listen_at(resolve("127.0.0.1", 0));
  const auto relay_port = static_cast<std::uint16_t>(port_of(local_address(relay.get())));
  const std::uint16_t port = free_port();
  const Process between([&]() -> std::string {
    const FileDescriptor caller(accept(relay.get(), nullptr, nullptr));
    const FileDescriptor called = connect_as_stranger(port);
    const auto pass_on = [](const FileDescriptor& from, const FileDescriptor& to, std::size_t count) {
      std::vector<std::byte> bytes(count);
      receive_all(from.get(), bytes, Deadline::in(patient));
      send_all(to.get(), bytes, Deadline::in(patient));
    };
    pass_on(called, caller, Challenge::bytes);
    pass_on(caller, called, Answer::bytes);
    pass_on(called, caller, Verdict::bytes);
    for (;;) pause();
  });
  const auto texts = run_ranks(2, [&](int rank) {
    meet(rank == 0 ? port : relay_port, rank, 2,
         rank == 0 ? std::chrono::nanoseconds(std::chrono::seconds(2)) : patient);
    return std::string("met");
  });
  EXPECT_EQ(kind_of(texts[0]), "TimedOut");
  for (const std::string& text : texts) EXPECT_TRUE(contains(text, "wrong secret")) << text;
}

TEST(Rendezvous, RanksThatWereToldDifferentSizesHearOfIt) {
  const std::uint16_t port = free_port();
  const auto texts = run_ranks(2, [&](int rank) {
    meet(port, rank, rank == 0 ? 2 : 3);
    return std::string("met");
  });
  EXPECT_EQ(texts[0], "Error: rank 1 was started as one of 3 ranks, rank 0 as one of 2");
  EXPECT_EQ(kind_of(texts[1]), "Error");
  EXPECT_TRUE(contains(texts[1], "another number of ranks")) << texts[1];
}

TEST(Rendezvous, TwoProcessesOfOneRankHearOfIt) {
  const std::uint16_t port = free_port();
  const auto texts = run_ranks(3, [&](int process) {
    meet(port, process == 0 ? 0 : 1, 3)->broadcast({});
    return std::string("met");
  });
  EXPECT_EQ(texts[0], "Error: two processes say that they are rank 1");
  EXPECT_NE(texts[1], "met");
  EXPECT_NE(texts[2], "met");
}

TEST(Rendezvous, ARankThatIsKilledIsLostToAll) {
  const std::uint16_t port = free_port();
  const auto texts = run_ranks(4, [&](int rank) {
    const auto bootstrap = meet(port, rank, 4);
    bootstrap->barrier();
    if (rank == 2) std::raise(SIGKILL);
    bootstrap->barrier();
    return std::string("met");
  });
  EXPECT_EQ(texts[0], "PeerLost: rank 2 closed its connection");
  EXPECT_EQ(texts[1], "PeerLost: rank 0 closed its connection");
  EXPECT_EQ(texts[2], "");
  EXPECT_EQ(texts[3], "PeerLost: rank 0 closed its connection");
}

TEST(Rendezvous, ManyThatAreLostAreCounted) {
  const std::uint16_t port = free_port();
  const auto texts = run_ranks(9, [&](int rank) -> std::string {
    const auto bootstrap = meet(port, rank, 9);
    bootstrap->barrier();
    if (rank == 0) return bootstrap->first_failure(PeerLost("rank 3 is gone", 3)).value().what();
    if (rank > 2) std::raise(SIGKILL);
    return bootstrap->tell_failure(PeerLost("it is gone")) ? "rank 0 has ended" : "rank 0 goes on";
  });
  EXPECT_EQ(texts[0],
            "rank 3 closed its connection, rank 4 closed its connection, rank 5 closed its connection, "
            "rank 6 closed its connection and so on, 6 ranks in all");
  EXPECT_EQ(texts[1], "rank 0 has ended");
}

// One who knows the secret and then announces 4 GiB.
TEST(Rendezvous, ALengthBeyondTheLimitIsCorrupt) {
  const std::uint16_t port = free_port();
  const Process liar([&]() -> std::string {
    const FileDescriptor fd = call_rank(resolve("127.0.0.1", port), {{1, 2}, secret, patient}, Refusal::may_pass);
    const std::array<unsigned char, 8> header{'C', 'H', 'L', 'B', 0xff, 0xff, 0xff, 0xff};
    send(fd.get(), header.data(), header.size(), MSG_NOSIGNAL);
    for (;;) pause();
  });
  const auto bootstrap = meet(port, 0, 2);
  EXPECT_EQ(kind_of(outcome_of([&] { bootstrap->gather({}); })), "Corrupt");
}

TEST(Rendezvous, HalfAFrameEndsInTheTimeLimit) {
  const std::uint16_t port = free_port();
  const Process half([&]() -> std::string {
    const FileDescriptor fd = call_rank(resolve("127.0.0.1", port), {{1, 2}, secret, patient}, Refusal::may_pass);
    send(fd.get(), "CHLB", 4, MSG_NOSIGNAL);
    for (;;) pause();
  });
  const auto bootstrap = meet(port, 0, 2, std::chrono::seconds(1));
  EXPECT_EQ(outcome_of([&] { bootstrap->gather({}); }), "TimedOut: rank 1 has not answered within 1 s");
}

}  // namespace
}  // namespace chiplog::testing
