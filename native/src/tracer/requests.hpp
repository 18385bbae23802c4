// Which number a request has in the trace, from its start until it is completed.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace chiplog::tracer {

// What was asked for when the request was made.
struct Posted {
  std::uint32_t number = 0;
  std::uint32_t prepared = 0;  // of a persistent one: the number of its Send_init or the like
  std::int32_t peer = 0;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
  bool is_receive = false;
  bool is_persistent = false;
  bool is_active = false;
  std::uint64_t order = 0;       // which one of all that were noted
  const void* thread = nullptr;  // whose calls have noted it
};

using RequestKey = std::uintptr_t;

// How many requests had been noted at a time.
using RequestOrder = std::uint64_t;

template <class Handle>
[[nodiscard]] RequestKey key_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<RequestKey>(handle);
  } else {
    return static_cast<RequestKey>(static_cast<unsigned>(handle));
  }
}

// Handles and what they stand for. Eight of a hash have a place of their own; the others share a map. A handle may
// stand for several requests at a time: MPIs have one for all sends that are complete from the start, and an MPI gives
// a handle to another thread's request as soon as it has completed the one before, which is not noted yet. So a call
// completes one that was noted before the call: the newest of its thread, or else the newest of all.
class Requests {
 public:
  static void add(RequestKey key, const Posted& posted);
  static RequestOrder noted();

  // Notes that the request is completed. Returns false where no active request has the key. A persistent request stays,
  // but is no longer active.
  static bool complete(RequestKey key, RequestOrder before, Posted& posted);
  // The same, and a persistent one goes, too. `was_active` says whether it is completed by that.
  static bool remove(RequestKey key, RequestOrder before, Posted& posted, bool& was_active);
  // A persistent request is started as `number`; `posted` is what is known of it.
  static bool start(RequestKey key, std::uint32_t number);
  static bool find_prepared(RequestKey key, Posted& posted);
};

}  // namespace chiplog::tracer
