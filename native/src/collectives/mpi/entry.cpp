// What programs call: the MPI's names in front of the MPI, which stays reachable by its profiling interface.
#include <mpi.h>

#include "collectives/mpi/registry.hpp"

#define CHIPLOG_EXPORT [[gnu::visibility("default")]]

extern "C" {

CHIPLOG_EXPORT int MPI_Barrier(MPI_Comm communicator) {
  chiplog::collectives::Barrier* barrier = chiplog::collectives::find(communicator);
  if (barrier == nullptr) return PMPI_Barrier(communicator);
  const int error = barrier->wait();
  if (error == MPI_SUCCESS) [[likely]] {
    return error;
  }
  PMPI_Comm_call_errhandler(communicator, error);
  return error;
}

// Fortran's names by the conventions of compilers, and that of the module mpi_f08. Some MPIs come from there to
// MPI_Barrier, others to PMPI_Barrier, so all of them come here. An optional error code that is absent is null.
CHIPLOG_EXPORT void mpi_barrier_(const MPI_Fint* communicator, MPI_Fint* error) {
  const int result = MPI_Barrier(MPI_Comm_f2c(*communicator));
  if (error != nullptr) *error = result;
}
CHIPLOG_EXPORT void mpi_barrier(const MPI_Fint* communicator, MPI_Fint* error) { mpi_barrier_(communicator, error); }
CHIPLOG_EXPORT void mpi_barrier__(const MPI_Fint* communicator, MPI_Fint* error) { mpi_barrier_(communicator, error); }
CHIPLOG_EXPORT void MPI_BARRIER(const MPI_Fint* communicator, MPI_Fint* error) { mpi_barrier_(communicator, error); }
CHIPLOG_EXPORT void mpi_barrier_f08_(const MPI_Fint* communicator, MPI_Fint* error) {
  mpi_barrier_(communicator, error);
}

}  // extern "C"
