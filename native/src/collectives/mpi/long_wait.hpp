// Waits for a collective call of the library's own, which a rank without the library never makes.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <chrono>
#include <string>

#include "collectives/settings.hpp"

namespace chiplog::collectives {

// Completes the request. Where that takes long, it says so once, by the sentence that `who` returns, and waits on.
template <class Who>
int wait_long(MPI_Request& request, Who who) {
#ifdef CHIPLOG_SMPI  // polling takes no simulated time
  return PMPI_Wait(&request, MPI_STATUS_IGNORE);
#else
  constexpr std::chrono::seconds patience{5};
  const auto begin = std::chrono::steady_clock::now();
  bool is_said = false;
  for (;;) {
    int is_done = 0;
    const int error = PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS || is_done != 0) return error;
    if (!is_said && std::chrono::steady_clock::now() - begin > patience) {
      is_said = true;
      say(who());
    }
    sched_yield();
  }
#endif
}

}  // namespace chiplog::collectives
