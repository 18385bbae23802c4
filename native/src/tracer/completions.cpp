// The names of calls that complete, start or free requests.
#include "tracer/completions.hpp"

using namespace chiplog::tracer;

extern "C" {
CHIPLOG_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return wait<InC>(CHIPLOG_NEXT(Wait), request, status);
}
CHIPLOG_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return test<InC>(CHIPLOG_NEXT(Test), request, flag, status);
}
CHIPLOG_EXPORT int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return wait_all<InC>(CHIPLOG_NEXT(Waitall), count, requests, statuses);
}
CHIPLOG_EXPORT int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  return test_all<InC>(CHIPLOG_NEXT(Testall), count, requests, flag, statuses);
}
CHIPLOG_EXPORT int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return wait_any<InC>(CHIPLOG_NEXT(Waitany), count, requests, index, status);
}
CHIPLOG_EXPORT int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  return test_any<InC>(CHIPLOG_NEXT(Testany), count, requests, index, flag, status);
}
CHIPLOG_EXPORT int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return some<InC>(kind_of_Waitsome, CHIPLOG_NEXT(Waitsome), count, requests, done, indices, statuses);
}
CHIPLOG_EXPORT int MPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return some<InC>(kind_of_Testsome, CHIPLOG_NEXT(Testsome), count, requests, done, indices, statuses);
}
CHIPLOG_EXPORT int MPI_Start(MPI_Request* request) { return start<InC>(CHIPLOG_NEXT(Start), request); }
CHIPLOG_EXPORT int MPI_Startall(int count, MPI_Request* requests) {
  return start_all<InC>(CHIPLOG_NEXT(Startall), count, requests);
}
CHIPLOG_EXPORT int MPI_Request_free(MPI_Request* request) {
  return request_free<InC>(CHIPLOG_NEXT(Request_free), request);
}
}

// In Fortran numbers are passed by address, and the error code is the last argument.
namespace {

class NextInFortran {
 public:
  explicit NextInFortran(void* function) : function_(function) {}
  int operator()(auto... arguments) const {
    MPI_Fint error = MPI_SUCCESS;
    reinterpret_cast<void (*)(decltype(address(arguments))..., MPI_Fint*)>(function_)(address(arguments)..., &error);
    return error;
  }

 private:
  static int* address(int& number) { return &number; }
  template <class T>
  static T* address(T*& pointer) {
    return pointer;
  }
  void* function_;
};

void finish(MPI_Fint* error, int result) {
  if (error != nullptr) *error = result;
}

}  // namespace

using FStatus = InFortran::Status;
#define CHIPLOG_NEXT_HERE(SYMBOL) NextInFortran(dlsym(RTLD_NEXT, #SYMBOL))
#define CHIPLOG_F_WAIT(SYMBOL)                                                      \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* request, FStatus* status, MPI_Fint* error) { \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);                             \
    finish(error, wait<InFortran>(next, request, status));                          \
  }
#define CHIPLOG_F_TEST(SYMBOL)                                                                      \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* request, MPI_Fint* flag, FStatus* status, MPI_Fint* error) { \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);                                             \
    finish(error, test<InFortran>(next, request, flag, status));                                    \
  }
#define CHIPLOG_F_WAITALL(SYMBOL)                                                                       \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* count, MPI_Fint* requests, FStatus* statuses, MPI_Fint* error) { \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);                                                 \
    finish(error, wait_all<InFortran>(next, *count, requests, statuses));                               \
  }
#define CHIPLOG_F_TESTALL(SYMBOL)                                                                    \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* flag, FStatus* statuses, \
                             MPI_Fint* error) {                                                      \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);                                              \
    finish(error, test_all<InFortran>(next, *count, requests, flag, statuses));                      \
  }
#define CHIPLOG_F_WAITANY(SYMBOL)                                                                                      \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index, FStatus* status, MPI_Fint* error) { \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);                                                                \
    finish(error, wait_any<InFortran>(next, *count, requests, index, status));                                         \
  }
#define CHIPLOG_F_TESTANY(SYMBOL)                                                                                   \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* flag, FStatus* status, \
                             MPI_Fint* error) {                                                                     \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);                                                             \
    finish(error, test_any<InFortran>(next, *count, requests, index, flag, status));                                \
  }
#define CHIPLOG_F_SOME(SYMBOL, KIND)                                                                 \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* done, MPI_Fint* indices, \
                             FStatus* statuses, MPI_Fint* error) {                                   \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);                                              \
    finish(error, some<InFortran>(KIND, next, *count, requests, done, indices, statuses));           \
  }
#define CHIPLOG_F_WAITSOME(SYMBOL) CHIPLOG_F_SOME(SYMBOL, kind_of_Waitsome)
#define CHIPLOG_F_TESTSOME(SYMBOL) CHIPLOG_F_SOME(SYMBOL, kind_of_Testsome)
#define CHIPLOG_F_START(SYMBOL)                                    \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* request, MPI_Fint* error) { \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);            \
    finish(error, start<InFortran>(next, request));                \
  }
#define CHIPLOG_F_STARTALL(SYMBOL)                                                   \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* error) { \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);                              \
    finish(error, start_all<InFortran>(next, *count, requests));                     \
  }
#define CHIPLOG_F_FREE(SYMBOL)                                     \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* request, MPI_Fint* error) { \
    static const auto next = CHIPLOG_NEXT_HERE(SYMBOL);            \
    finish(error, request_free<InFortran>(next, request));         \
  }
#define CHIPLOG_EACH_NAME(DEFINE, LOWER, UPPER) \
  DEFINE(mpi_##LOWER) DEFINE(mpi_##LOWER##_) DEFINE(mpi_##LOWER##__) DEFINE(MPI_##UPPER) DEFINE(mpi_##LOWER##_f08_)

extern "C" {
CHIPLOG_EACH_NAME(CHIPLOG_F_WAIT, wait, WAIT)
CHIPLOG_EACH_NAME(CHIPLOG_F_TEST, test, TEST)
CHIPLOG_EACH_NAME(CHIPLOG_F_WAITALL, waitall, WAITALL)
CHIPLOG_EACH_NAME(CHIPLOG_F_TESTALL, testall, TESTALL)
CHIPLOG_EACH_NAME(CHIPLOG_F_WAITANY, waitany, WAITANY)
CHIPLOG_EACH_NAME(CHIPLOG_F_TESTANY, testany, TESTANY)
CHIPLOG_EACH_NAME(CHIPLOG_F_WAITSOME, waitsome, WAITSOME)
CHIPLOG_EACH_NAME(CHIPLOG_F_TESTSOME, testsome, TESTSOME)
CHIPLOG_EACH_NAME(CHIPLOG_F_START, start, START)
CHIPLOG_EACH_NAME(CHIPLOG_F_STARTALL, startall, STARTALL)
CHIPLOG_EACH_NAME(CHIPLOG_F_FREE, request_free, REQUEST_FREE)
}
