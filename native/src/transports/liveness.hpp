// Which of the other ranks' processes still run, for transports whose library doesn't tell.
#pragma once

#include <vector>

#include "bootstrap/socket.hpp"
#include "chiplog/bootstrap.hpp"

namespace chiplog {

class Liveness {
 public:
  // Collective.
  explicit Liveness(Bootstrap& bootstrap);

  // False once the process of `peer` has ended; one system call. A process that can't be seen from here (on another
  // host, in another PID namespace) counts as alive: only a time limit ends waiting for it.
  [[nodiscard]] bool lives(Rank peer) const;

 private:
  // One a rank, of its process; closed where it can't be seen.
  std::vector<FileDescriptor> processes_;
};

}  // namespace chiplog
