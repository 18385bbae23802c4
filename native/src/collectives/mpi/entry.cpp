// What programs call: the MPI's names in front of the MPI. What the library doesn't do itself goes to the next one of
// that name, so that another tool that is preloaded behind it sees it, too.
#include <dlfcn.h>
#include <mpi.h>

#include "collectives/mpi/registry.hpp"

#define CHIPLOG_EXPORT [[gnu::visibility("default")]]

namespace {

// Another tool's function, or the MPI's own. `of_mpi` where names lead nowhere, as in a program that is linked
// statically.
template <class Function>
Function* next_of([[maybe_unused]] const char* name, Function* of_mpi) {
#ifndef CHIPLOG_SMPI
  if (void* found = dlsym(RTLD_NEXT, name); found != nullptr) return reinterpret_cast<Function*>(found);
#endif
  return of_mpi;
}

#define CHIPLOG_NEXT(NAME)                                         \
  [] {                                                             \
    static auto* const found = next_of("MPI_" #NAME, PMPI_##NAME); \
    return found;                                                  \
  }()

int own_barrier(MPI_Comm communicator, const chiplog::collectives::Recent& known) {
  if (known.is_settled) return CHIPLOG_NEXT(Barrier)(communicator);
  int* const left = known.own_left;  // `known` may change during the barrier
  const bool is_only_counted = left != nullptr && *left > 1;
  if (!is_only_counted) chiplog::collectives::before_own_barrier();
  const int error = CHIPLOG_NEXT(Barrier)(communicator);
  if (error != MPI_SUCCESS) return error;
  if (is_only_counted) {
    --*left;
  } else {
    chiplog::collectives::after_own_barrier(communicator);
  }
  return error;
}

// The same error, after the communicator's handler has been called.
int handled(MPI_Comm communicator, int error) {
  if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(communicator, error);
  return error;
}

// Apart from MPI_Barrier, which is to stay as short as it can be.
[[gnu::noinline]] int any_barrier(MPI_Comm communicator) {
  const chiplog::collectives::Recent& known = chiplog::collectives::find(communicator);
  if (known.barrier == nullptr) return own_barrier(communicator, known);
  chiplog::collectives::Barrier& barrier = *known.barrier;
  const int error = barrier.wait();
  if (error != MPI_SUCCESS) return handled(communicator, error);
  if (barrier.is_pair()) chiplog::collectives::lend_pair(communicator, barrier);
  return MPI_SUCCESS;
}
[[gnu::noinline]] int late_barrier(MPI_Comm communicator) {
  const chiplog::collectives::ProcessPair& pair = chiplog::collectives::process_pair;
  if (pair.barrier == nullptr) return any_barrier(communicator);
  pair.barrier->take_back(pair.flags);
  return handled(communicator, pair.barrier->wait_for_late());
}

int free_with(int (*release)(MPI_Comm*), MPI_Comm* communicator) {
  if (communicator == nullptr || *communicator == MPI_COMM_NULL) return release(communicator);
  const MPI_Comm freed_before = chiplog::collectives::begin_to_free(*communicator);
  const int error = release(communicator);
  chiplog::collectives::freed(freed_before);
  return error;
}

}  // namespace

extern "C" {

CHIPLOG_EXPORT int MPI_Barrier(MPI_Comm communicator) {
  using chiplog::collectives::process_pair;
  if (process_pair.communicator != communicator) [[unlikely]] {
    return any_barrier(communicator);
  }
  if (!process_pair.flags.meet_at_once(chiplog::collectives::Patience::idle_looks)) [[unlikely]] {
    return late_barrier(communicator);
  }
  return MPI_SUCCESS;
}

CHIPLOG_EXPORT int MPI_Comm_free(MPI_Comm* communicator) { return free_with(CHIPLOG_NEXT(Comm_free), communicator); }
CHIPLOG_EXPORT int MPI_Comm_disconnect(MPI_Comm* communicator) {
  return free_with(CHIPLOG_NEXT(Comm_disconnect), communicator);
}

#ifdef OPEN_MPI
CHIPLOG_EXPORT int MPI_Comm_idup(MPI_Comm communicator, MPI_Comm* made, MPI_Request* request) {
  const int error = CHIPLOG_NEXT(Comm_idup)(communicator, made, request);
  if (error == MPI_SUCCESS) chiplog::collectives::number_is_pending(communicator);
  return error;
}
#if OMPI_MAJOR_VERSION >= 5
CHIPLOG_EXPORT int MPI_Comm_idup_with_info(MPI_Comm communicator, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  const int error = CHIPLOG_NEXT(Comm_idup_with_info)(communicator, info, made, request);
  if (error == MPI_SUCCESS) chiplog::collectives::number_is_pending(communicator);
  return error;
}
#endif
#endif

// A session may be used by several threads, whatever MPI_Init has given.
#ifdef MPI_SESSION_NULL
CHIPLOG_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  chiplog::collectives::threads_may_come();
  return CHIPLOG_NEXT(Session_init)(info, handler, session);
}
#endif

CHIPLOG_EXPORT int MPI_Init(int* count, char*** arguments) {
  const int error = CHIPLOG_NEXT(Init)(count, arguments);
  if (error == MPI_SUCCESS) chiplog::collectives::after_initialisation();
  return error;
}
CHIPLOG_EXPORT int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
  const int error = CHIPLOG_NEXT(Init_thread)(count, arguments, required, provided);
  if (error == MPI_SUCCESS) chiplog::collectives::after_initialisation();
  return error;
}
CHIPLOG_EXPORT int MPI_Finalize() {
  chiplog::collectives::before_finalisation();
  return CHIPLOG_NEXT(Finalize)();
}

}  // extern "C"

// Fortran's names by the conventions of compilers, and those of the module mpi_f08. Some MPIs come from there to the C
// functions above, others to PMPI's, so all of them come here. An optional error code that is absent is null.
namespace {

void fortran_barrier(const MPI_Fint* communicator, MPI_Fint* error) {
  const int result = MPI_Barrier(MPI_Comm_f2c(*communicator));
  if (error != nullptr) *error = result;
}

void fortran_free(int (*release)(MPI_Comm*), MPI_Fint* communicator, MPI_Fint* error) {
  MPI_Comm own = MPI_Comm_f2c(*communicator);
  const int result = release(&own);
  *communicator = MPI_Comm_c2f(own);
  if (error != nullptr) *error = result;
}

// The MPI's own Fortran function of that name: it sets up more than the C function does.
template <class... Arguments>
void call_next(const char* name, Arguments*... arguments) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found != nullptr) reinterpret_cast<void (*)(Arguments*...)>(found)(arguments...);
}

void fortran_init(const char* name, MPI_Fint* error) {
  call_next(name, error);
  chiplog::collectives::after_initialisation();
}

void fortran_init_thread(const char* name, MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  call_next(name, required, provided, error);
  chiplog::collectives::after_initialisation();
}

void fortran_session(const char* name, const MPI_Fint* info, const MPI_Fint* handler, MPI_Fint* session,
                     MPI_Fint* error) {
  chiplog::collectives::threads_may_come();
  call_next(name, info, handler, session, error);
}

#ifdef OPEN_MPI
void fortran_idup(const char* name, const MPI_Fint* communicator, MPI_Fint* made, MPI_Fint* request, MPI_Fint* error) {
  int own_error = MPI_SUCCESS;
  call_next(name, communicator, made, request, &own_error);
  if (own_error == MPI_SUCCESS) chiplog::collectives::number_is_pending(MPI_Comm_f2c(*communicator));
  if (error != nullptr) *error = own_error;
}
#endif

void fortran_finalize(const char* name, MPI_Fint* error) {
  chiplog::collectives::before_finalisation();
  call_next(name, error);
}

}  // namespace

#define CHIPLOG_FORTRAN_BARRIER(NAME) \
  CHIPLOG_EXPORT void NAME(const MPI_Fint* communicator, MPI_Fint* error) { fortran_barrier(communicator, error); }
#define CHIPLOG_FORTRAN_FREE(NAME)                                    \
  CHIPLOG_EXPORT void NAME(MPI_Fint* communicator, MPI_Fint* error) { \
    fortran_free(MPI_Comm_free, communicator, error);                 \
  }
#define CHIPLOG_FORTRAN_DISCONNECT(NAME)                              \
  CHIPLOG_EXPORT void NAME(MPI_Fint* communicator, MPI_Fint* error) { \
    fortran_free(MPI_Comm_disconnect, communicator, error);           \
  }
#define CHIPLOG_FORTRAN_INIT(NAME) \
  CHIPLOG_EXPORT void NAME(MPI_Fint* error) { fortran_init(#NAME, error); }
#define CHIPLOG_FORTRAN_INIT_THREAD(NAME)                                             \
  CHIPLOG_EXPORT void NAME(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) { \
    fortran_init_thread(#NAME, required, provided, error);                            \
  }
#define CHIPLOG_FORTRAN_SESSION(NAME)                                                                           \
  CHIPLOG_EXPORT void NAME(const MPI_Fint* info, const MPI_Fint* handler, MPI_Fint* session, MPI_Fint* error) { \
    fortran_session(#NAME, info, handler, session, error);                                                      \
  }
#define CHIPLOG_FORTRAN_IDUP(NAME)                                                                             \
  CHIPLOG_EXPORT void NAME(const MPI_Fint* communicator, MPI_Fint* made, MPI_Fint* request, MPI_Fint* error) { \
    fortran_idup(#NAME, communicator, made, request, error);                                                   \
  }
#define CHIPLOG_FORTRAN_FINALIZE(NAME) \
  CHIPLOG_EXPORT void NAME(MPI_Fint* error) { fortran_finalize(#NAME, error); }

#define CHIPLOG_FORTRAN_NAMES(DEFINE, UPPER, LOWER) \
  DEFINE(UPPER) DEFINE(LOWER) DEFINE(LOWER##_) DEFINE(LOWER##__) DEFINE(LOWER##_f08_)

extern "C" {
CHIPLOG_FORTRAN_NAMES(CHIPLOG_FORTRAN_BARRIER, MPI_BARRIER, mpi_barrier)
CHIPLOG_FORTRAN_NAMES(CHIPLOG_FORTRAN_FREE, MPI_COMM_FREE, mpi_comm_free)
CHIPLOG_FORTRAN_NAMES(CHIPLOG_FORTRAN_DISCONNECT, MPI_COMM_DISCONNECT, mpi_comm_disconnect)
CHIPLOG_FORTRAN_NAMES(CHIPLOG_FORTRAN_INIT, MPI_INIT, mpi_init)
CHIPLOG_FORTRAN_NAMES(CHIPLOG_FORTRAN_INIT_THREAD, MPI_INIT_THREAD, mpi_init_thread)
CHIPLOG_FORTRAN_NAMES(CHIPLOG_FORTRAN_SESSION, MPI_SESSION_INIT, mpi_session_init)
CHIPLOG_FORTRAN_NAMES(CHIPLOG_FORTRAN_FINALIZE, MPI_FINALIZE, mpi_finalize)
#ifdef OPEN_MPI
CHIPLOG_FORTRAN_NAMES(CHIPLOG_FORTRAN_IDUP, MPI_COMM_IDUP, mpi_comm_idup)
#endif
}  // extern "C"
