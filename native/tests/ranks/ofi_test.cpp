// What is libfabric's own: files in /dev/shm, signals, what a provider says of itself.
#ifdef CHIPLOG_WITH_OFI
#include "transports/ofi/ofi.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include "bootstrap/bootstraps.hpp"
#include "presence.hpp"
#include "processes.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);

struct Libfabric {
  static std::string missing() {
    return outcome_of([] { (void)ofi::library(); });
  }
};

class Ofi : public ::testing::Test {
 protected:
  void SetUp() override { CHIPLOG_REQUIRE_PRESENT(Libfabric) }
};

[[maybe_unused]] const bool presence_is_noted = testing::leave_out("Ofi.*", testing::left_out_for<Libfabric>);

// How many files of this process the shm provider has there: their names begin with the process' number.
int files_of(pid_t process) {
  int count = 0;
  const std::string begin = std::to_string(process) + ":";
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    if (entry.path().filename().string().starts_with(begin)) ++count;
  }
  return count;
}

// What became of rank 0; `pids` are the processes of both ranks.
template <class Body>
std::string run_two(const OfiOptions& options, std::vector<pid_t>& pids, const Body& body) {
  const auto bootstrap = make_fork_bootstrap(2, patient);
  const bool child = bootstrap->rank() != 0;
  for (const std::string& told : bootstrap->all_gather(std::to_string(getpid()))) pids.push_back(std::stoi(told));
  std::string outcome = outcome_of([&] {
    OfiTransport transport(*bootstrap, options, patient);
    body(transport, bootstrap->rank());
  });
  if (child) _exit(outcome.empty() ? 0 : 1);
  return outcome;
}

void expect_no_files(const std::vector<pid_t>& pids) {
  ASSERT_EQ(pids.size(), 2U);
  for (const pid_t process : pids) EXPECT_EQ(files_of(process), 0) << "of process " << process;
}

TEST_F(Ofi, LeavesNothingInSharedMemoryWhenItEndsWell) {
  std::vector<pid_t> pids;
  const std::string outcome = run_two({.provider = "shm"}, pids, [&](OfiTransport& transport, Rank rank) {
    auto buffer = transport.make_buffer(100'000);
    if (rank == 0) transport.send(1, buffer, 100'000);
    if (rank == 1) transport.recv(0, buffer, 100'000);
  });
  EXPECT_EQ(outcome, "");
  expect_no_files(pids);
}

TEST_F(Ofi, LeavesNothingInSharedMemoryWhenARankIsKilled) {
  std::vector<pid_t> pids;
  const std::string outcome = run_two({.provider = "shm"}, pids, [&](OfiTransport& transport, Rank rank) {
    auto buffer = transport.make_buffer(1);
    if (rank == 1) std::raise(SIGKILL);
    transport.recv(1, buffer, 1);
  });
  EXPECT_EQ(outcome, "PeerLost: rank 1 has left the run");
  expect_no_files(pids);
}

TEST_F(Ofi, LeavesSignalsToWhoeverHandledThem) {
  std::vector<pid_t> pids;
  const std::string outcome = run_two({.provider = "shm"}, pids, [&](OfiTransport&, Rank) {
    for (const int signal : {SIGINT, SIGTERM}) {
      struct sigaction action{};
      sigaction(signal, nullptr, &action);
      const bool untouched = (action.sa_flags & SA_SIGINFO) == 0;
      if (!untouched) throw std::runtime_error("libfabric handles signal " + std::to_string(signal));
    }
  });
  EXPECT_EQ(outcome, "");
}

TEST_F(Ofi, NamesTheProvidersThereAreWhereOneIsUnknown) {
  std::vector<pid_t> pids;
  const std::string outcome = run_two({.provider = "no-such"}, pids, [](OfiTransport&, Rank) {});
  EXPECT_TRUE(outcome.find("no provider 'no-such'") != std::string::npos) << outcome;
  EXPECT_TRUE(outcome.find("shm") != std::string::npos) << outcome;
}

TEST_F(Ofi, SaysWhichProviderIsInForceAndWhatItPromises) {
  std::vector<pid_t> pids;
  std::string json;
  Capabilities can;
  const std::string outcome = run_two({.provider = "shm"}, pids, [&](OfiTransport& transport, Rank) {
    json = transport.options_json();
    can = transport.capabilities();
  });
  EXPECT_EQ(outcome, "");
  for (const char* part : {R"("provider":"shm")", R"("libfabric":")", R"("data_progress":"manual")",
                           R"("completion":")", R"("memory_registration":")"}) {
    EXPECT_TRUE(json.find(part) != std::string::npos) << part << " in " << json;
  }
  EXPECT_TRUE(can.remote_write && can.remote_read && can.write_with_immediate && can.atomics && can.inline_send);
  EXPECT_FALSE(can.multiple_hosts);
  EXPECT_GT(can.max_inline_bytes, 0U);
}

}  // namespace
}  // namespace chiplog::testing
#endif
