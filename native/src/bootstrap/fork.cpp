#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bootstrap/bootstraps.hpp"
#include "bootstrap/star.hpp"
#include "chiplog/error.hpp"

namespace chiplog {
namespace {

constexpr std::chrono::nanoseconds ending_patience = std::chrono::seconds(3);
// After an error the children have nothing to finish; one may be stopped.
constexpr std::chrono::nanoseconds failing_patience = std::chrono::milliseconds(300);

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

// A forked rank: its process, and how that ended once it has been reaped.
struct Child {
  pid_t process = -1;
  std::string fate;

  // True once the process is reaped.
  bool reap(int options) {
    if (!fate.empty()) return true;
    int status = 0;
    pid_t reaped = 0;
    do {
      reaped = waitpid(process, &status, options);
    } while (reaped < 0 && errno == EINTR);
    if (reaped == process) fate = describe(status);
    if (reaped < 0) fate = "was reaped by somebody else";
    return !fate.empty();
  }

  bool reap_within(const Deadline& deadline) {
    auto nap = std::chrono::microseconds(50);
    while (!reap(WNOHANG)) {
      if (deadline.passed()) return false;
      std::this_thread::sleep_for(nap);
      nap = std::min(2 * nap, std::chrono::microseconds(5000));
    }
    return true;
  }
};

class ForkBootstrap final : public StarBootstrap {
 public:
  ForkBootstrap(Rank rank, int size, std::vector<FileDescriptor> connections, std::vector<Child> children,
                std::chrono::nanoseconds time_limit)
      : StarBootstrap(rank, size, std::move(connections), time_limit), children_(std::move(children)) {}

  ForkBootstrap(const ForkBootstrap&) = delete;
  ForkBootstrap& operator=(const ForkBootstrap&) = delete;

  ~ForkBootstrap() override {
    disconnect();
    const bool in_error = failed_ || std::uncaught_exceptions() > 0;
    const Deadline deadline = Deadline::in(in_error ? failing_patience : std::max(ending_patience, time_limit()));
    for (Child& child : children_) {
      if (child.reap_within(deadline)) continue;
      kill(child.process, SIGKILL);
      child.reap(0);
    }
  }

  // Waits briefly, because the connections of a process close before it can be reaped.
  std::string fate(Rank peer) override {
    if (rank() != 0 || peer < 1 || peer >= size()) return {};
    Child& child = children_[static_cast<std::size_t>(peer - 1)];
    child.reap_within(Deadline::in(std::chrono::milliseconds(500)));
    return child.fate;
  }

  std::optional<Error> first_failure(const Error& error) override {
    failed_ = true;
    return StarBootstrap::first_failure(error);
  }

 private:
  std::vector<Child> children_;
  bool failed_ = false;
};

std::pair<FileDescriptor, FileDescriptor> make_socket_pair() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(ExitCode::run_failed, "can't make a socket pair between ranks: " + system_error_text(errno));
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// Rank 0 decides how a run ends, and no rank outlives it.
void become_child(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
  std::signal(SIGINT, SIG_IGN);
}

}  // namespace

std::unique_ptr<Bootstrap> make_fork_bootstrap(int ranks, std::chrono::nanoseconds time_limit) {
  if (ranks < 1) throw UsageError("a run needs at least 1 rank, not " + std::to_string(ranks));
  const pid_t parent = getpid();
  std::fflush(nullptr);
  std::vector<FileDescriptor> connections(1);
  std::vector<Child> children;
  for (Rank rank = 1; rank < ranks; ++rank) {
    auto [here, there] = make_socket_pair();
    const pid_t process = fork();
    if (process == 0) {
      become_child(parent);
      connections.clear();
      connections.push_back(std::move(there));
      here.reset();
      return std::make_unique<ForkBootstrap>(rank, ranks, std::move(connections), std::vector<Child>{}, time_limit);
    }
    if (process < 0) {
      const std::string reason = system_error_text(errno);
      const ForkBootstrap ends_the_others(0, ranks, std::move(connections), std::move(children), time_limit);
      throw Error(ExitCode::run_failed, "can't fork rank " + std::to_string(rank) + ": " + reason);
    }
    connections.push_back(std::move(here));
    children.push_back({process, {}});
  }
  return std::make_unique<ForkBootstrap>(0, ranks, std::move(connections), std::move(children), time_limit);
}

}  // namespace chiplog
