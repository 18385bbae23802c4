// What is cma's own: the change from one protocol to the other, the kernel's permission, and what its refusals become.
#include "transports/cma/cma.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "bootstrap/bootstraps.hpp"
#include "core/payload.hpp"
#include "presence.hpp"
#include "processes.hpp"
#include "transports/registry.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);

struct CrossMemoryAttach {
  static constexpr bool needs_device = true;  // a permission, which can't be installed either
  static std::string missing() { return cma::what_forbids().why; }
};

class Cma : public ::testing::Test {
 protected:
  void SetUp() override { CHIPLOG_REQUIRE_PRESENT(CrossMemoryAttach) }
};

[[maybe_unused]] const bool presence_is_noted = testing::leave_out("Cma.*", testing::left_out_for<CrossMemoryAttach>);

// What became of rank 0.
template <class Body>
std::string run_ranks(int ranks, const CmaOptions& options, const Body& body) {
  const auto bootstrap = make_fork_bootstrap(ranks, patient);
  const bool child = bootstrap->rank() != 0;
  std::string outcome = outcome_of([&] {
    CmaTransport transport(*bootstrap, options, patient);
    body(transport, bootstrap->rank(), *bootstrap);
  });
  if (child) _exit(outcome.empty() ? 0 : 1);
  return outcome;
}

void expect_payload(const std::byte* at, std::size_t bytes, std::uint64_t salt) {
  if (const auto mismatch = find_mismatch({at, bytes}, salt)) throw std::runtime_error(*mismatch);
}

// Lets process_vm_readv and process_vm_writev fail in this process and its children, as containers do.
void forbid_cross_memory_attach(int error) {
  const auto refused = static_cast<unsigned>(SECCOMP_RET_ERRNO | error);
  std::array<sock_filter, 5> steps{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refused),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{steps.size(), steps.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    throw std::runtime_error("no filter of system calls can be set here");
  }
}

// What `body` returns in a process of its own.
template <class Body>
std::string in_another_process(const Body& body) {
  Pipe report;
  const pid_t child = fork();
  if (child == 0) {
    report.write(body());
    _exit(0);
  }
  std::string told = report.read_to_end();
  waitpid(child, nullptr, 0);
  return told;
}

TEST_F(Cma, MessagesOnBothSidesOfTheEagerLimitKeepTheirOrder) {
  for (const std::size_t limit : {std::size_t{0}, std::size_t{100}, std::size_t{8192}}) {
    const std::string outcome = run_ranks(2, {.eager_bytes = limit}, [&](CmaTransport& transport, Rank rank, auto&) {
      auto buffer = transport.make_buffer(limit + 64);
      for (std::uint64_t round = 0; round < 300; ++round) {
        for (const std::size_t bytes : {limit + 1, limit, std::size_t{0}, limit + 64}) {
          if (rank == 0) {
            fill_payload({buffer.data(), bytes}, round + bytes);
            transport.send(1, buffer, bytes);
          } else {
            const std::size_t received = transport.recv(0, buffer, limit + 64);
            if (received != bytes) throw std::runtime_error("wrong length");
            expect_payload(buffer.data(), bytes, round + bytes);
          }
        }
      }
      // The fate of rank 1 shows here.
      if (rank == 0 && transport.recv(1, buffer, 1) != 1) throw std::runtime_error("wrong length");
      if (rank == 1) transport.send(0, buffer, 1);
    });
    EXPECT_EQ(outcome, "") << "limit " << limit;
  }
}

// Rank 0 posts to all before any of them receives.
TEST_F(Cma, LongMessagesToSeveralRanksMayBePostedBeforeOneIsReceived) {
  constexpr int ranks = 4;
  constexpr std::size_t bytes = 200'000;
  constexpr int each = 3;
  const std::string outcome = run_ranks(ranks, {}, [&](CmaTransport& transport, Rank rank, Bootstrap& bootstrap) {
    auto buffer = transport.make_buffer(bytes);
    if (rank == 0) {
      fill_payload({buffer.data(), bytes}, 7);
      for (int i = 0; i < each; ++i) {
        for (Rank peer = 1; peer < ranks; ++peer) transport.post_send(peer, buffer, bytes);
      }
    }
    bootstrap.barrier();
    if (rank == 0) {
      transport.wait_sends();
      transport.wait_sends();
      std::fill_n(buffer.data(), bytes, std::byte{});
    } else {
      for (int i = 0; i < each; ++i) {
        if (transport.recv(0, buffer, bytes) != bytes) throw std::runtime_error("wrong length");
        expect_payload(buffer.data(), bytes, 7);
      }
    }
    for (const std::string& done : bootstrap.all_gather("done")) {
      if (done != "done") throw std::runtime_error("a rank is not done");
    }
  });
  EXPECT_EQ(outcome, "");
}

TEST_F(Cma, ALongMessageOfARankThatHasDiedIsALossAndNoWait) {
  const std::string outcome = run_ranks(2, {}, [](CmaTransport& transport, Rank rank, auto&) {
    auto buffer = transport.make_buffer(100'000);
    if (rank == 1) {
      transport.post_send(0, buffer, 100'000);
      std::raise(SIGKILL);
    }
    transport.recv(1, buffer, 100'000);
  });
  // It dies before the copy, or perhaps just after it.
  EXPECT_TRUE(outcome.empty() || outcome == "PeerLost: rank 1 has left the run") << outcome;
}

TEST_F(Cma, OperationsOnTheWindowOfADeadRankAreALoss) {
  for (const bool reads : {true, false}) {
    const std::string outcome = run_ranks(2, {}, [&](CmaTransport& transport, Rank rank, auto&) {
      auto window = transport.make_window(4096);
      auto buffer = transport.make_buffer(4096);
      if (rank == 1) std::raise(SIGKILL);
      outcome_of([&] { transport.wait_until(1, [] { return false; }); });  // until it is dead
      const CmaTransport::Transfer transfer{.peer = 1, .buffer = buffer, .bytes = 4096, .window = window};
      reads ? transport.post_read(transfer) : transport.post_write(transfer);
    });
    EXPECT_EQ(outcome, "PeerLost: rank 1 has left the run");
  }
}

TEST_F(Cma, AWindowThatIsGoneIsNamedWithItsRank) {
  const std::string outcome = run_ranks(2, {}, [](CmaTransport& transport, Rank rank, Bootstrap& bootstrap) {
    constexpr std::size_t bytes = std::size_t{8} << 20U;
    auto buffer = transport.make_buffer(bytes);
    auto window = transport.make_window(bytes);
    if (rank == 1) {
      const auto gone = std::move(window);
    }
    bootstrap.barrier();
    if (rank == 0) transport.post_write({.peer = 1, .buffer = buffer, .bytes = bytes, .window = window});
    bootstrap.barrier();
  });
  EXPECT_EQ(outcome, "Error: rank 1 has no memory where 8388608 bytes were to be copied");
}

TEST_F(Cma, WindowsOfDifferentSizesAreRefused) {
  const std::string outcome = run_ranks(
      2, {}, [](CmaTransport& transport, Rank rank, auto&) { (void)transport.make_window(rank == 0 ? 100 : 200); });
  EXPECT_EQ(outcome, "UsageError: rank 1 makes a window of 200 bytes and rank 0 one of 100");
}

TEST_F(Cma, SaysItsLimitsAndDeclaresThatItSynchronises) {
  const std::string outcome = run_ranks(2, {.eager_bytes = 1000}, [](CmaTransport& transport, Rank, auto&) {
    const std::string json = transport.options_json();
    if (json.find(R"("eager_bytes":1000)") == std::string::npos) throw std::runtime_error(json);
    const Capabilities can = transport.capabilities();
    if (!can.synchronises || !can.remote_read || !can.remote_write || can.atomics || can.multiple_hosts) {
      throw std::runtime_error("wrong capabilities");
    }
  });
  EXPECT_EQ(outcome, "");
}

// As a container's filter does it, which a test may set for itself.
TEST_F(Cma, WhereAFilterForbidsItItIsNotUsableAndSaysWhatToDo) {
  const auto found = [](int error) {
    return in_another_process([&] {
      forbid_cross_memory_attach(error);
      const Availability here = availability_of(find_transport("cma"));
      return std::string(here.usable ? "usable" : here.why + "; " + here.remedy);
    });
  };
  const std::string refused = found(EPERM);
  EXPECT_NE(refused.find("a container's system call filter"), std::string::npos) << refused;
  EXPECT_NE(refused.find("--cap-add=SYS_PTRACE"), std::string::npos) << refused;
  const std::string hidden = found(ENOSYS);
  EXPECT_NE(hidden.find("this kernel has no process_vm_readv"), std::string::npos) << hidden;
  EXPECT_TRUE(availability_of(find_transport("cma")).usable);
}

// It ends on all ranks, whichever of them is refused.
TEST_F(Cma, ARankThatMayNotReadEndsTheSetUpOnAllRanks) {
  for (const Rank refused : {0, 1}) {
    const std::string outcome = in_another_process([&] {
      const auto bootstrap = make_fork_bootstrap(2, patient);
      if (bootstrap->rank() == refused) forbid_cross_memory_attach(EPERM);
      const std::string own = outcome_of([&] { CmaTransport(*bootstrap, {}, patient); });
      const std::vector<std::string> all = bootstrap->gather(own);
      if (bootstrap->rank() != 0) _exit(0);
      return all[0] + "\n" + all[1];
    });
    const std::string peer = std::to_string(1 - refused);
    const std::string sentence =
        "Error: cma can't be used: the kernel does not let this process reach the memory of rank " + peer +
        "; `chiplog doctor` says what forbids it";
    EXPECT_EQ(outcome, sentence + "\n" + sentence);
  }
}

}  // namespace
}  // namespace chiplog::testing
