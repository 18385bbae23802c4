// MPI as the bootstrap, and the lifetime of the MPI library in this process. Compiled with the site's own MPI only.
#pragma once

#include <mpi.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "chiplog/bootstrap.hpp"

namespace chiplog {

// Calls MPI_Init and MPI_Finalize, single-threaded. A process has one, made before any other MPI call.
class MpiLibrary {
 public:
  MpiLibrary(int& argc, char**& argv);
  ~MpiLibrary();
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;

  // Ends every rank of the job at once. After a fatal error the others would otherwise wait for ever.
  [[noreturn]] static void abort(int exit_code);
};

// A communicator with its own context, whose calls return their errors.
class MpiCommunicator {
 public:
  // A duplicate of MPI_COMM_WORLD. Collective.
  MpiCommunicator();
  ~MpiCommunicator();
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  [[nodiscard]] MPI_Comm get() const { return communicator_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

// Throws Truncated, PeerLost or Error for a code that is not MPI_SUCCESS; `what` is the call, `peer` its other side.
[[noreturn]] void throw_mpi_error(int code, std::string_view what, Rank peer);

// A rank that has waited for some milliseconds polls every 50 us only, so that its core is free between requests. Under
// SimGrid waits take no time and have no limit.
class MpiBootstrap final : public Bootstrap {
 public:
  explicit MpiBootstrap(std::chrono::nanoseconds time_limit);

  [[nodiscard]] Rank rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  std::string broadcast(std::string_view blob) override;
  std::vector<std::string> gather(std::string_view blob) override;
  void barrier() override;
  // Nodes are the ranks that MPI says share memory.
  Node node() override;

 private:
  void send(Rank peer, std::string_view blob);
  std::string receive(Rank peer);
  void wait_for_message(Rank peer);

  MpiCommunicator communicator_;
  std::chrono::nanoseconds time_limit_;
  Rank rank_ = 0;
  int size_ = 1;
};

}  // namespace chiplog
