#include "collectives/mpi/job.hpp"

#include <sys/socket.h>

#include <cstdlib>

namespace chiplog::collectives {
namespace {

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// The process at the other end of the socket over which Hydra's proxy serves this rank: one proxy a node and job.
std::string proxy() {
  const std::string descriptor = value_of("PMI_FD");
  if (descriptor.empty()) return "";
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(std::atoi(descriptor.c_str()), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0)
    return "";
  return "proxy " + std::to_string(peer.pid);
}

}  // namespace

std::string job_of_this_process(bool spawned) {
  if (const std::string name = value_of("PMIX_NAMESPACE"); !name.empty()) return "pmix " + name;
  if (spawned) return "";
  if (const std::string found = proxy(); !found.empty()) return found;
  const std::string job = value_of("SLURM_JOB_ID");
  const std::string step = value_of("SLURM_STEP_ID");
  return job.empty() || step.empty() ? "" : "slurm " + job + "." + step;
}

}  // namespace chiplog::collectives
