// Errors of the library's own are no errors of the program's.
#pragma once

#include <mpi.h>

namespace chiplog::collectives {

// While it lives, errors on the communicator are returned instead of handled. Another thread's point-to-point errors
// on the same communicator are returned meanwhile, too.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm communicator) : communicator_(communicator) {
    PMPI_Comm_get_errhandler(communicator_, &handler_);
    if (handler_ != MPI_ERRHANDLER_NULL) PMPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  }
  ~ErrorsReturned() {
    if (handler_ == MPI_ERRHANDLER_NULL) return;  // SMPI has none unless the program has set one
    PMPI_Comm_set_errhandler(communicator_, handler_);
    PMPI_Errhandler_free(&handler_);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  MPI_Comm communicator_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace chiplog::collectives
