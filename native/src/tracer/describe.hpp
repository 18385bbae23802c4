// What calls of MPI say of themselves, by the shape of their arguments.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <tuple>
#include <utility>

#include "tracer/call.hpp"

namespace chiplog::tracer {

// Only its times.
struct Timed {
  static void after(Described&, auto...) {}
};

struct SendMessage {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    call.in(comm);
    call.with(to, tag);
    if (call.peer != nobody) call.sent_bytes = call.stream.bytes_of(count, type);
  }
};

// Of one that is not received yet: the bytes are those of the buffer.
struct PostReceive {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, int from, int tag, MPI_Comm comm) {
    call.in(comm);
    call.with(from, tag);
    if (call.peer != nobody) call.received_bytes = call.stream.bytes_of(count, type);
  }
};

struct Receive {
  static void after(Described& call, const void*, auto, MPI_Datatype, int, int, MPI_Comm comm, MPI_Status* status) {
    call.in(comm);
    call.matched(*status);
  }
};

// The last argument of `Shape`'s calls is followed by that of the request; by info, too, where `has_info`.
template <class Shape, bool is_persistent, bool is_receive = false, bool has_info = false>
struct Making {
  static void after(Described& call, auto... arguments) {
    const auto all = std::tuple(arguments...);
    constexpr std::size_t rest = sizeof...(arguments) - (has_info ? 2 : 1);
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      Shape::after(call, std::get<Index>(all)...);
    }(std::make_index_sequence<rest>());
    call.makes(*std::get<sizeof...(arguments) - 1>(all), is_persistent, is_receive);
  }
};
template <class Shape>
using Starting = Making<Shape, false>;
template <class Shape>
using Preparing = Making<Shape, true>;
template <class Shape>
using PreparingWithInfo = Making<Shape, true, false, true>;
using StartReceive = Making<PostReceive, false, true>;
using PrepareReceive = Making<PostReceive, true, true>;

}  // namespace chiplog::tracer
