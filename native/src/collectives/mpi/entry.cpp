// What programs call: the MPI's names in front of the MPI. What the library doesn't do itself goes to the next one of
// that name, so that another tool that is preloaded behind it sees it, too.
#include <dlfcn.h>
#include <mpi.h>

#include "collectives/mpi/own_mpi.hpp"
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

#define CHIPLOG_NEXT_OF(NAME, OF_MPI)                  \
  [] {                                                 \
    static auto* const found = next_of(#NAME, OF_MPI); \
    return found;                                      \
  }()
#define CHIPLOG_NEXT(NAME) CHIPLOG_NEXT_OF(MPI_##NAME, PMPI_##NAME)

// The same error, after the communicator's handler has been called.
int handled(MPI_Comm communicator, int error) {
  if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(communicator, error);
  return error;
}

[[gnu::noinline]] int barrier_of(MPI_Comm communicator, chiplog::collectives::Barrier& barrier) {
  const int error = barrier.wait();
  if (error != MPI_SUCCESS) return handled(communicator, error);
  if (barrier.is_pair()) chiplog::collectives::lend_pair(communicator, barrier);
  return MPI_SUCCESS;
}

// One of the MPI's own that may lead to more than to be counted.
[[gnu::noinline]] int uncounted_barrier(MPI_Comm communicator) {
  chiplog::collectives::before_own_barrier();
  const int error = CHIPLOG_NEXT(Barrier)(communicator);
  if (error == MPI_SUCCESS) chiplog::collectives::after_own_barrier(communicator);
  return error;
}

// Apart from MPI_Barrier, which is to stay as short as it can be. So is what a barrier costs that is only counted.
[[gnu::noinline]] int any_barrier(MPI_Comm communicator) {
  chiplog::collectives::Communicators::Entry* const known = chiplog::collectives::find(communicator);
  if (known == nullptr) return uncounted_barrier(communicator);
  if (known->own_left > 1) {
    const int error = CHIPLOG_NEXT(Barrier)(communicator);
    if (error == MPI_SUCCESS) --known->own_left;
    return error;
  }
  if (known->barrier != nullptr) return barrier_of(communicator, *known->barrier);
  return known->is_settled ? CHIPLOG_NEXT(Barrier)(communicator) : uncounted_barrier(communicator);
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

#ifdef OPEN_MPI
template <class Idup, class... Arguments>
int idup_with(MPI_Comm duplicated, Idup* idup, Arguments... arguments) {
  const int error = idup(arguments...);
  if (error == MPI_SUCCESS) chiplog::collectives::number_is_pending(duplicated);
  return error;
}
#endif

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

// What must not be missed is caught by both of its names: another tool may stand before the library, and goes on by the
// MPI's profiling interface.
#ifdef CHIPLOG_SMPI  // where no tool is preloaded
#define CHIPLOG_BOTH_NAMES(DEFINE, NAME) DEFINE(MPI_##NAME, PMPI_##NAME)
#else
#define CHIPLOG_BOTH_NAMES(DEFINE, NAME) DEFINE(MPI_##NAME, PMPI_##NAME) DEFINE(PMPI_##NAME, PMPI_##NAME)
#endif

#define CHIPLOG_FREE(NAME, OF_MPI) \
  CHIPLOG_EXPORT int NAME(MPI_Comm* communicator) { return free_with(CHIPLOG_NEXT_OF(NAME, OF_MPI), communicator); }
CHIPLOG_BOTH_NAMES(CHIPLOG_FREE, Comm_free)
CHIPLOG_BOTH_NAMES(CHIPLOG_FREE, Comm_disconnect)

#ifdef OPEN_MPI
#define CHIPLOG_IDUP(NAME, OF_MPI)                                                              \
  CHIPLOG_EXPORT int NAME(MPI_Comm communicator, MPI_Comm* made, MPI_Request* request) {        \
    return idup_with(communicator, CHIPLOG_NEXT_OF(NAME, OF_MPI), communicator, made, request); \
  }
CHIPLOG_BOTH_NAMES(CHIPLOG_IDUP, Comm_idup)
#if OMPI_MAJOR_VERSION >= 5
#define CHIPLOG_IDUP_WITH_INFO(NAME, OF_MPI)                                                            \
  CHIPLOG_EXPORT int NAME(MPI_Comm communicator, MPI_Info info, MPI_Comm* made, MPI_Request* request) { \
    return idup_with(communicator, CHIPLOG_NEXT_OF(NAME, OF_MPI), communicator, info, made, request);   \
  }
CHIPLOG_BOTH_NAMES(CHIPLOG_IDUP_WITH_INFO, Comm_idup_with_info)
#endif
#endif

// A session may be used by several threads, whatever MPI_Init has given.
#ifdef MPI_SESSION_NULL
#define CHIPLOG_SESSION(NAME, OF_MPI)                                                    \
  CHIPLOG_EXPORT int NAME(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) { \
    chiplog::collectives::end_under_other_mpi();                                         \
    chiplog::collectives::threads_may_come();                                            \
    return CHIPLOG_NEXT_OF(NAME, OF_MPI)(info, handler, session);                        \
  }
CHIPLOG_BOTH_NAMES(CHIPLOG_SESSION, Session_init)
#endif

CHIPLOG_EXPORT int MPI_Init(int* count, char*** arguments) {
  chiplog::collectives::end_under_other_mpi();
  const int error = CHIPLOG_NEXT(Init)(count, arguments);
  if (error == MPI_SUCCESS) chiplog::collectives::after_initialisation();
  return error;
}
CHIPLOG_EXPORT int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
  chiplog::collectives::end_under_other_mpi();
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
  chiplog::collectives::end_under_other_mpi();
  call_next(name, error);
  chiplog::collectives::after_initialisation();
}

void fortran_init_thread(const char* name, MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  chiplog::collectives::end_under_other_mpi();
  call_next(name, required, provided, error);
  chiplog::collectives::after_initialisation();
}

void fortran_session(const char* name, const MPI_Fint* info, const MPI_Fint* handler, MPI_Fint* session,
                     MPI_Fint* error) {
  chiplog::collectives::end_under_other_mpi();
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
