// Errors of the library's own are no errors of the program's.
#pragma once

#include <mpi.h>

namespace chiplog::collectives {

// While it lives, errors on the communicator are returned instead of handed to a handler that the program wrote.
// Another thread's point-to-point errors on the same communicator are returned meanwhile, too.
//
// Handlers of the MPI's own stay. MPICH's communicators without a handler follow MPI_COMM_WORLD's, at the time of the
// error, and say MPI_ERRORS_ARE_FATAL when asked: set back, that would be a handler of their own, for ever.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm communicator) : communicator_(communicator) {
    PMPI_Comm_get_errhandler(communicator_, &handler_);
    if (is_the_programs()) PMPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  }
  ~ErrorsReturned() {
    if (handler_ == MPI_ERRHANDLER_NULL) return;  // SMPI has none unless the program has set one
    if (is_the_programs()) PMPI_Comm_set_errhandler(communicator_, handler_);
    PMPI_Errhandler_free(&handler_);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  bool is_the_programs() const {
#ifdef MPI_ERRORS_ABORT
    if (handler_ == MPI_ERRORS_ABORT) return false;
#endif
    return handler_ != MPI_ERRHANDLER_NULL && handler_ != MPI_ERRORS_ARE_FATAL && handler_ != MPI_ERRORS_RETURN;
  }

  MPI_Comm communicator_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace chiplog::collectives
