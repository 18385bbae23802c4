#include "bootstrap/search.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "impostor.hpp"
#include "processes.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);
constexpr auto impatient = std::chrono::milliseconds(500);

// The first of as many ports as a search tries, all of them free right now. Below the ports that systems give by
// themselves, so that nobody gets one of them by chance.
std::uint16_t free_ports() {
  static unsigned first = 20000 + static_cast<unsigned>(getpid()) % 500 * 20;
  for (;; first += search_ports) {
    try {
      for (unsigned port = first; port < first + search_ports; ++port) (void)listen_at(resolve("127.0.0.1", port));
    } catch (const Error&) {
      continue;
    }
    const auto found = static_cast<std::uint16_t>(first);
    first += search_ports;
    return found;
  }
}

std::string temporary_path(const std::string& name) {
  return ::testing::TempDir() + "chiplog-" + name + "-" + std::to_string(getpid());
}

std::string hear_all(const RendezvousSearch& where, Rank rank, int size, std::string_view secret) {
  const auto bootstrap = make_searching_bootstrap(where, rank, size, secret, patient);
  std::string heard;
  for (const std::string& blob : bootstrap->all_gather(std::to_string(rank))) heard += blob + " ";
  bootstrap->barrier();
  return heard;
}

TEST(Search, TheFirstHostOfSlurmsListsIsFound) {
  const std::map<std::string, std::string> lists{
      {"n01", "n01"},
      {"n[01-08]", "n01"},
      {"n[3,7-9],m1", "n3"},
      {"login,n[1-2]", "login"},
      {"r[1-2]n[01-08]", "r1n01"},
      {"n[1-2].cluster", "n1.cluster"},
      {"", ""},
      {"n[01", "n01"},
      {"n[", "n"},
  };
  for (const auto& [list, host] : lists) EXPECT_EQ(first_host(list), host) << list;
}

TEST(Search, HostsOfTheStepComeBeforeThoseOfTheJobAndEachOnce) {
  const std::map<std::string, const char*> variables{
      {"SLURM_STEP_NODELIST", "n[02-03]"}, {"SLURM_JOB_NODELIST", "n[01-03]"}, {"SLURM_NODELIST", "n[01-03]"}};
  const std::vector<std::string> expected{"n02", "n01"};
  EXPECT_EQ(hosts_from_slurm([&](const char* name) -> const char* {
              const auto found = variables.find(name);
              return found == variables.end() ? nullptr : found->second;
            }),
            expected);
}

TEST(Search, RanksOfOneHostMeet) {
  const RendezvousSearch where{free_ports(), {}};
  const auto texts = run_ranks(4, [&](int rank) { return hear_all(where, rank, 4, "ours"); });
  for (const std::string& text : texts) EXPECT_EQ(text, "0 1 2 3 ");
}

TEST(Search, RunsThatSearchAtTheSamePortsEachFindTheirOwnRanks) {
  const RendezvousSearch where{free_ports(), {}};
  const auto texts = run_ranks(6, [&](int process) {
    return hear_all(where, process % 2, 2, std::string("secret of run ") + std::to_string(process / 2));
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "0 1 ");
}

// A program that accepts calls and says nothing has the first port.
TEST(Search, AProgramThatHasThePortIsPassedOver) {
  const RendezvousSearch where{free_ports(), {}};
  const FileDescriptor stranger = listen_at(resolve("127.0.0.1", where.first_port));
  const auto texts = run_ranks(2, [&](int rank) { return hear_all(where, rank, 2, "ours"); });
  for (const std::string& text : texts) EXPECT_EQ(text, "0 1 ");
}

// It says that the run is another one, or that it is rank 0 itself, but can't prove that it may say so.
TEST(Search, AStrangersVerdictIsPassedOver) {
  for (const auto judgement :
       {Judgement::accepted, Judgement::wrong_secret, Judgement::wrong_size, Judgement::wrong_rank}) {
    const RendezvousSearch where{free_ports(), {}};
    const FileDescriptor listener = listen_at(resolve("127.0.0.1", where.first_port));
    const Process stranger([&] { return answer_without_the_secret(listener, judgement); });
    const auto texts = run_ranks(3, [&](int rank) { return hear_all(where, rank, 3, "ours"); });
    for (const std::string& text : texts) EXPECT_EQ(text, "0 1 2 ");
  }
}

// The ports that rank 1 would try are others than rank 0's.
TEST(Search, TheFileTellsWhereRankZeroIs) {
  const std::string file = temporary_path("meeting");
  const std::uint16_t first = free_ports();
  const std::uint16_t other = free_ports();
  const auto texts =
      run_ranks(2, [&](int rank) { return hear_all({rank == 0 ? first : other, file}, rank, 2, "ours"); });
  for (const std::string& text : texts) EXPECT_EQ(text, "0 1 ");
  EXPECT_FALSE(std::ifstream(file).is_open()) << "it goes when all have met";
}

TEST(Search, AFileThatIsNoMeetingFileTellsNothing) {
  const std::string file = temporary_path("rubbish");
  for (const std::string text :
       {"", "rubbish", "chiplog-meeting/1", "chiplog-meeting/1\nhost\nhost port\nhost 99999\nhost 0\n"}) {
    std::ofstream(file) << text;
    EXPECT_TRUE(read_meeting_file(file).empty()) << text;
  }
  unlink(file.c_str());
}

TEST(Search, AFifoOrADeviceIsNoMeetingFileAndStaysWhatItIs) {
  const std::string fifo = temporary_path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, std::string("/dev/zero")}) {
    EXPECT_TRUE(read_meeting_file(path).empty()) << path;
    EXPECT_THROW(MeetingFile(path, 1), Error) << path;
  }
  unlink(fifo.c_str());
}

TEST(Search, AFolderThatCantBeWrittenToLeavesTheOtherWays) {
  const RendezvousSearch where{free_ports(), "/no/such/folder/meeting"};
  const auto texts = run_ranks(2, [&](int rank) { return hear_all(where, rank, 2, "ours"); });
  for (const std::string& text : texts) EXPECT_EQ(text, "0 1 ");
}

TEST(Search, WhoFindsNobodySaysWhatWasTriedAndWhatToDo) {
  const RendezvousSearch where{free_ports(), "/no/such/folder/meeting"};
  const std::string outcome = outcome_of([&] { make_searching_bootstrap(where, 1, 2, "ours", impatient); });
  EXPECT_EQ(kind_of(outcome), "TimedOut");
  for (const char* part :
       {"rank 0 was not found within 0.5 s", "/no/such/folder/meeting was not there", "--rendezvous"}) {
    EXPECT_NE(outcome.find(part), std::string::npos) << outcome;
  }
}

// Rank 1 finds nobody at all ports before rank 0 listens at one of them.
TEST(Search, AWrongSecretIsToldAlsoByWhoWasThereFirst) {
  const RendezvousSearch where{free_ports(), {}};
  constexpr auto limit = std::chrono::seconds(3);
  const auto texts = run_ranks(2, [&](int rank) -> std::string {
    if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    (void)make_searching_bootstrap(where, rank, 2, rank == 0 ? "ours" : "guessed", limit);
    return "met";
  });
  for (const std::string& text : texts) EXPECT_NE(text.find("wrong secret"), std::string::npos) << text;
}

TEST(Search, RanksThatWereToldDifferentSizesHearOfItAtOnce) {
  const RendezvousSearch where{free_ports(), {}};
  const auto texts = run_ranks(2, [&](int rank) { return hear_all(where, rank, rank == 0 ? 2 : 3, "ours"); });
  EXPECT_EQ(texts[0], "Error: rank 1 was started as one of 3 ranks, rank 0 as one of 2");
  EXPECT_NE(texts[1].find("another number of ranks"), std::string::npos) << texts[1];
}

}  // namespace
}  // namespace chiplog::testing
