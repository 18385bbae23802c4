// The MPI's own work while ranks wait in memory that the MPI knows nothing of.
#pragma once

#include <mpi.h>

namespace chiplog::collectives {

// A request that nothing completes: whoever tests it lets the MPI work. To probe a communicator of this process alone
// would not do, since MPICH then looks at messages to itself only.
// It is made when it is first needed.
class Progress {
 public:
  Progress() = default;
  ~Progress() {
    if (request_ == MPI_REQUEST_NULL) return;
    PMPI_Grequest_complete(request_);
    PMPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // MPI_SUCCESS, or the MPI's error.
  int make() {
    if (request_ == MPI_REQUEST_NULL) start();
    int completed = 0;
    return PMPI_Test(&request_, &completed, MPI_STATUS_IGNORE);
  }

 private:
  void start() {
    const auto query = [](void*, MPI_Status*) -> int { return MPI_SUCCESS; };
    const auto free = [](void*) -> int { return MPI_SUCCESS; };
    const auto cancel = [](void*, int) -> int { return MPI_SUCCESS; };
    PMPI_Grequest_start(query, free, cancel, nullptr, &request_);
  }

  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace chiplog::collectives
