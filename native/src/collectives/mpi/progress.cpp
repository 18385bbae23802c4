#include "collectives/mpi/progress.hpp"

#include <mutex>

#include "collectives/mpi/errors_returned.hpp"

namespace chiplog::collectives {
namespace {

std::mutex mutex;
MPI_Comm communicator = MPI_COMM_NULL;

// Unlike MPI_Comm_dup it copies no attributes of the program's, and unlike MPI_Comm_split it may run beside whatever
// another thread does with MPI_COMM_SELF.
MPI_Comm make() {
  const ErrorsReturned guard(MPI_COMM_SELF);
  MPI_Group self = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  if (PMPI_Comm_group(MPI_COMM_SELF, &self) != MPI_SUCCESS) return MPI_COMM_NULL;
  const int error = PMPI_Comm_create_group(MPI_COMM_SELF, self, 0, &made);
  PMPI_Group_free(&self);
  if (error != MPI_SUCCESS) return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

}  // namespace

MPI_Comm progress_communicator() {
  const std::lock_guard lock(mutex);
  if (communicator == MPI_COMM_NULL) communicator = make();
  return communicator;
}

void free_progress_communicator() {
  const std::lock_guard lock(mutex);
  if (communicator != MPI_COMM_NULL) PMPI_Comm_free(&communicator);
}

}  // namespace chiplog::collectives
