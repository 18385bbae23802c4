// The calls of one thread on their way into blocks of the file.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "tracer/format.hpp"
#include "tracer/ticks.hpp"

namespace chiplog::tracer {

// A communicator as calls need it.
struct Group {
  std::uint16_t number = unknown_communicator;
  int rank = 0;
  int ranks = 1;  // of an intercommunicator, those of the remote group
  int sources = 0;
  int destinations = 0;  // neighbours of a topology
};

// What a call says of itself, beside its times.
struct Call {
  static constexpr std::int32_t no_peer = std::numeric_limits<std::int32_t>::min();

  std::uint8_t kind = 0;
  std::int32_t peer = no_peer;
  std::int32_t tag = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint16_t communicator = unknown_communicator;
  bool starts = false;
  std::span<const std::uint32_t> requests;  // that it completes, or starts again
};

class Stream {
 public:
  // The calling thread's, or null where nothing is recorded: outside of Init and Finalize, and within another call.
  static Stream* enter();
  void leave() { is_inside_ = false; }

  // The number of the request that the call starts; 0 where it starts none.
  std::uint32_t write(const Call& call, Ticks begin, Ticks end);
  // The receiving half of the call before.
  void write_receiving(std::int32_t source, std::int32_t tag, std::uint64_t bytes);
  void write_status(std::uint32_t request, std::int32_t source, std::int32_t tag, std::uint64_t bytes);
  // Members as runs of three words: first world rank, step, how many.
  void write_members(std::uint16_t number, bool is_remote, std::span<const std::uint32_t> runs);

  // Bytes of `count` elements.
  [[nodiscard]] std::uint64_t bytes_of(std::int64_t count, MPI_Datatype type);

  // The communicator in which a message was matched that is to be received by MPI_Mrecv.
  std::uint16_t matched_in = unknown_communicator;

 private:
  friend class StreamOwner;
  static Stream* enter_first();

  void* reserve(std::size_t entries, std::size_t words, Ticks now);
  bool next_block(Ticks now);
  void put(const Entry& entry);
  void write_more(std::span<const std::uint32_t> requests);
  void write_new_thread();

  std::byte* front_ = nullptr;
  std::uint32_t* back_ = nullptr;
  Ticks last_end_ = 0;
  std::uint32_t next_request_ = 0;
  bool is_inside_ = false;
  bool is_full_ = false;
  MPI_Datatype known_type_ = MPI_DATATYPE_NULL;
  std::uint64_t known_size_ = 0;
  std::uint32_t known_epoch_ = 0;
  void* block_ = nullptr;
  std::uint32_t number_ = 0;
  std::uint32_t sequence_ = 0;
  Stream* next_spare_ = nullptr;
};

// Whether calls are recorded, and whether several threads may make them.
extern bool is_recording;
extern bool has_threads;

// Sizes of types that were asked for before may be those of freed ones.
void forget_types();

extern thread_local Stream* this_thread [[gnu::tls_model("initial-exec")]];

inline Stream* Stream::enter() {
  if (!is_recording) return nullptr;
  Stream* const stream = this_thread;
  if (stream == nullptr) [[unlikely]]
    return enter_first();
  if (stream->is_inside_) return nullptr;
  stream->is_inside_ = true;
  return stream;
}

}  // namespace chiplog::tracer
