// A function of the MPI's, recorded: its name in C, and its names in Fortran. A call within another one is not
// recorded.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tracer/communicators.hpp"
#include "tracer/fortran.hpp"
#include "tracer/kinds.hpp"
#include "tracer/next.hpp"
#include "tracer/requests.hpp"
#include "tracer/statuses.hpp"
#include "tracer/stream.hpp"

namespace chiplog::tracer {

// What describes a call fills this in.
struct Described : Call {
  explicit Described(Stream& into) : stream(into) {}

  // The call makes this request, and starts it, too, unless it is persistent.
  void makes(MPI_Request request, bool is_persistent, bool is_receive) {
    if (request == MPI_REQUEST_NULL) return;
    starts = true;
    made = key_of(request);
    persistent = is_persistent;
    receives = is_receive;
  }
  const Group& in(MPI_Comm comm) {
    const Group& group = group_of(stream, comm);
    communicator = group.number;
    return group;
  }
  void with(int rank, int with_tag) {
    peer = trace_peer(rank);
    tag = trace_tag(with_tag);
  }
  // What was received, of whom; `is_message` where there was anything to receive from.
  void matched(const MPI_Status& status) {
    with(status.MPI_SOURCE, status.MPI_TAG);
    received_bytes = peer == nobody ? 0 : tracer::received_bytes(status);
  }

  Stream& stream;
  RequestKey made = 0;
  bool persistent = false;
  bool receives = false;
  bool has_second = false;  // what a Sendrecv received
  MPI_Status second{};
};

// Writes the call, and remembers the request that it makes.
void record(const Described& call, Ticks begin, Ticks end);

template <class T>
T kept(T argument, MPI_Status&) {
  return argument;
}
inline MPI_Status* kept(MPI_Status* argument, MPI_Status& own) {
  return argument == MPI_STATUS_IGNORE ? &own : argument;
}

template <class Describe, class... Arguments>
inline int traced(Kind kind, int (*next)(Arguments...), std::type_identity_t<Arguments>... arguments) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(arguments...);
  [[maybe_unused]] MPI_Status own;
  const auto passed = std::tuple<Arguments...>(kept(arguments, own)...);
  Described call(*stream);
  call.kind = kind;
  if constexpr (requires { Describe::before(call, arguments...); }) Describe::before(call, arguments...);
  const Ticks begin = ticks_now();
  const int error = std::apply(next, passed);
  const Ticks end = ticks_now();
  if (error == MPI_SUCCESS) {
    std::apply([&call](auto... each) { Describe::after(call, each...); }, passed);
  }
  record(call, begin, end);
  stream->leave();
  return error;
}

template <std::size_t>
using Address = void*;

// The same of a Fortran function; `next` takes as many addresses, and that of the error code.
template <class Describe, class... Arguments, std::size_t... Index>
[[gnu::noinline]] void traced_fortran(Kind kind, void* next, int (*)(Arguments...), void* const* given,
                                      std::index_sequence<Index...>) {
  constexpr std::size_t count = sizeof...(Arguments);
  auto* const function = reinterpret_cast<void (*)(Address<Index>..., void*)>(next);
  if (function == nullptr) return;
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return function(given[Index]..., given[count]);
  std::tuple<FortranArgument<Arguments>...> arguments{given[Index]...};
  Described call(*stream);
  call.kind = kind;
  if constexpr (requires { Describe::before(call, std::declval<Arguments>()...); }) {
    Describe::before(call, std::get<Index>(arguments).in_c()...);
  }
  MPI_Fint own_error = MPI_SUCCESS;
  const Ticks begin = ticks_now();
  function(std::get<Index>(arguments).passed()..., &own_error);
  const Ticks end = ticks_now();
  if (own_error == MPI_SUCCESS) Describe::after(call, std::get<Index>(arguments).in_c()...);
  record(call, begin, end);
  if (given[count] != nullptr) *static_cast<MPI_Fint*>(given[count]) = own_error;
  stream->leave();
}

template <class Function, std::size_t index>
struct ArgumentOf;
template <class... Arguments, std::size_t index>
struct ArgumentOf<int(Arguments...), index> {
  using Type = std::tuple_element_t<index, std::tuple<Arguments...>>;
};

}  // namespace chiplog::tracer

#define CHIPLOG_TYPE(F, N) typename chiplog::tracer::ArgumentOf<decltype(F), N>::Type a##N
#define CHIPLOG_TYPES_1(F) CHIPLOG_TYPE(F, 0)
#define CHIPLOG_TYPES_2(F) CHIPLOG_TYPES_1(F), CHIPLOG_TYPE(F, 1)
#define CHIPLOG_TYPES_3(F) CHIPLOG_TYPES_2(F), CHIPLOG_TYPE(F, 2)
#define CHIPLOG_TYPES_4(F) CHIPLOG_TYPES_3(F), CHIPLOG_TYPE(F, 3)
#define CHIPLOG_TYPES_5(F) CHIPLOG_TYPES_4(F), CHIPLOG_TYPE(F, 4)
#define CHIPLOG_TYPES_6(F) CHIPLOG_TYPES_5(F), CHIPLOG_TYPE(F, 5)
#define CHIPLOG_TYPES_7(F) CHIPLOG_TYPES_6(F), CHIPLOG_TYPE(F, 6)
#define CHIPLOG_TYPES_8(F) CHIPLOG_TYPES_7(F), CHIPLOG_TYPE(F, 7)
#define CHIPLOG_TYPES_9(F) CHIPLOG_TYPES_8(F), CHIPLOG_TYPE(F, 8)
#define CHIPLOG_TYPES_10(F) CHIPLOG_TYPES_9(F), CHIPLOG_TYPE(F, 9)
#define CHIPLOG_TYPES_11(F) CHIPLOG_TYPES_10(F), CHIPLOG_TYPE(F, 10)
#define CHIPLOG_TYPES_12(F) CHIPLOG_TYPES_11(F), CHIPLOG_TYPE(F, 11)
#define CHIPLOG_TYPES_13(F) CHIPLOG_TYPES_12(F), CHIPLOG_TYPE(F, 12)
#define CHIPLOG_LIST_1(X) X(0)
#define CHIPLOG_LIST_2(X) CHIPLOG_LIST_1(X), X(1)
#define CHIPLOG_LIST_3(X) CHIPLOG_LIST_2(X), X(2)
#define CHIPLOG_LIST_4(X) CHIPLOG_LIST_3(X), X(3)
#define CHIPLOG_LIST_5(X) CHIPLOG_LIST_4(X), X(4)
#define CHIPLOG_LIST_6(X) CHIPLOG_LIST_5(X), X(5)
#define CHIPLOG_LIST_7(X) CHIPLOG_LIST_6(X), X(6)
#define CHIPLOG_LIST_8(X) CHIPLOG_LIST_7(X), X(7)
#define CHIPLOG_LIST_9(X) CHIPLOG_LIST_8(X), X(8)
#define CHIPLOG_LIST_10(X) CHIPLOG_LIST_9(X), X(9)
#define CHIPLOG_LIST_11(X) CHIPLOG_LIST_10(X), X(10)
#define CHIPLOG_LIST_12(X) CHIPLOG_LIST_11(X), X(11)
#define CHIPLOG_LIST_13(X) CHIPLOG_LIST_12(X), X(12)
#define CHIPLOG_NAME_OF(N) a##N
#define CHIPLOG_ADDRESS(N) void* a##N

// The name in C; KIND is the one that the trace has, without _c.
#define CHIPLOG_IN_C(NAME, KIND, COUNT, ...)                                            \
  extern "C" CHIPLOG_EXPORT int MPI_##NAME(CHIPLOG_TYPES_##COUNT(PMPI_##NAME)) {        \
    return chiplog::tracer::traced<__VA_ARGS__>(kind_of_##KIND, CHIPLOG_NEXT(NAME),     \
                                                CHIPLOG_LIST_##COUNT(CHIPLOG_NAME_OF)); \
  }
#define CHIPLOG_IN_FORTRAN(NAME, COUNT, SYMBOL, ...)                                          \
  extern "C" CHIPLOG_EXPORT void SYMBOL(CHIPLOG_LIST_##COUNT(CHIPLOG_ADDRESS), void* error) { \
    static void* const next = dlsym(RTLD_NEXT, #SYMBOL);                                      \
    void* const given[] = {CHIPLOG_LIST_##COUNT(CHIPLOG_NAME_OF), error};                     \
    chiplog::tracer::traced_fortran<__VA_ARGS__>(kind_of_##NAME, next, &PMPI_##NAME, given,   \
                                                 std::make_index_sequence<COUNT>());          \
  }
#define CHIPLOG_ALIAS(COUNT, SYMBOL, OTHER) \
  extern "C" CHIPLOG_EXPORT void OTHER(CHIPLOG_LIST_##COUNT(CHIPLOG_ADDRESS), void*) __attribute__((alias(#SYMBOL)));
// By the conventions of compilers, which MPIs have for one function, and those of the module mpi_f08.
#define CHIPLOG_FORTRAN_NAMES(NAME, COUNT, LOWER, UPPER, ...)      \
  CHIPLOG_IN_FORTRAN(NAME, COUNT, mpi_##LOWER##_, __VA_ARGS__)     \
  CHIPLOG_ALIAS(COUNT, mpi_##LOWER##_, mpi_##LOWER)                \
  CHIPLOG_ALIAS(COUNT, mpi_##LOWER##_, mpi_##LOWER##__)            \
  CHIPLOG_ALIAS(COUNT, mpi_##LOWER##_, MPI_##UPPER)                \
  CHIPLOG_IN_FORTRAN(NAME, COUNT, mpi_##LOWER##_f08_, __VA_ARGS__) \
  CHIPLOG_IN_FORTRAN(NAME, COUNT, mpi_##LOWER##_f08ts_, __VA_ARGS__)

// A call: its name, how many arguments it has in C, its name in lower and upper case, and what describes it.
#define CHIPLOG_CALL(NAME, COUNT, LOWER, UPPER, ...)                                    \
  static const chiplog::tracer::Kind kind_of_##NAME = chiplog::tracer::add_kind(#NAME); \
  CHIPLOG_IN_C(NAME, NAME, COUNT, __VA_ARGS__)                                          \
  CHIPLOG_FORTRAN_NAMES(NAME, COUNT, LOWER, UPPER, __VA_ARGS__)
// The same with counts of type MPI_Count.
#if MPI_VERSION >= 4
#define CHIPLOG_LARGE_CALL(NAME, COUNT, ...) CHIPLOG_IN_C(NAME##_c, NAME, COUNT, __VA_ARGS__)
#else
#define CHIPLOG_LARGE_CALL(NAME, COUNT, ...)
#endif
