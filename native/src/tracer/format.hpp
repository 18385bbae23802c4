// What a trace file holds; docs/reference/trace-format.md describes it. All numbers are in the machine's byte order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chiplog::tracer {

inline constexpr char file_magic[8] = {'C', 'H', 'I', 'P', 'L', 'O', 'G', 'T'};
inline constexpr std::uint32_t format_version = 1;
inline constexpr std::uint32_t block_magic = 0x4B4C4243;  // "CBLK"
inline constexpr std::size_t header_bytes = 65536;        // a multiple of every page size
inline constexpr std::size_t block_bytes = std::size_t{1} << 18;
inline constexpr std::size_t most_kinds = 240;
inline constexpr std::size_t kind_name_bytes = 32;
inline constexpr std::size_t processor_words = 16;

// The counter and CLOCK_MONOTONIC, read at the same moment.
struct ClockReading {
  std::uint64_t ticks;
  std::int64_t monotonic_ns;
};

// How far this host's CLOCK_MONOTONIC is ahead of that of rank 0's host, and how long the quickest round trip took that
// says so. Unknown where the round trip is 0.
struct ClockOffset {
  std::int64_t monotonic_ns;  // when it was measured, by this host's clock
  std::int64_t ahead_ns;
  std::int64_t round_trip_ns;
};

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t block_bytes;
  std::uint32_t kinds;  // how many names there are
  std::int32_t rank;
  std::int32_t ranks;
  std::uint32_t is_finalized;  // 1 once the last call that ends MPI has returned
  std::uint32_t clock_leader;  // the lowest rank that shares this rank's clock; unknown_leader before MPI_Init
  std::int64_t realtime_ns;    // at the first reading
  ClockReading first;
  ClockReading last;  // at the end; zeros before
  ClockOffset offset_at_init;
  ClockOffset offset_at_finalize;
  std::uint64_t lost_calls;  // calls for which there was no room on the disk
  char host[128];
  char mpi[128];
  char names[most_kinds][kind_name_bytes];
  std::uint64_t processors[processor_words];  // a bit for each that the rank may run on; zeros where that is not known
  std::uint64_t kernel;                       // the same on all ranks that share a clock
};
static_assert(sizeof(FileHeader) <= header_bytes);

// Calls grow from the header on, their words from the block's end downwards.
struct BlockHeader {
  std::uint32_t magic;
  std::uint32_t stream;    // which thread's, or several threads' that follow each other
  std::uint32_t sequence;  // its number among the stream's blocks
  std::uint32_t unused;
  std::uint64_t base_ticks;  // from which the first call's gap counts
  ClockReading clock;
};

// A call, or what belongs to one. Those that are not written yet are zeros.
struct Entry {
  std::uint32_t gap_ticks;       // since the end of the call before
  std::uint32_t duration_ticks;  // low halves, both
  std::uint8_t kind;             // 0: nothing; else an index into the header's names, plus 1; or one of those below
  std::uint8_t flags;
  std::uint16_t communicator;
  std::uint32_t bytes;  // sent; low half. With `lists` or `range`: how many requests.
};
static_assert(sizeof(Entry) == 16);

inline constexpr std::uint16_t unknown_communicator = 0xFFFF;
inline constexpr std::uint32_t unknown_leader = 0xFFFFFFFF;

// Bits of Entry::flags: which words the entry has, in this order.
namespace flag {
inline constexpr std::uint8_t short_peer = 1;   // 1 word: peer and tag, 16 bits each
inline constexpr std::uint8_t long_peer = 2;    // 2 words: peer, tag
inline constexpr std::uint8_t long_times = 4;   // 2 words: high halves of gap and duration
inline constexpr std::uint8_t received = 8;     // 1 word: bytes received; low half
inline constexpr std::uint8_t long_bytes = 16;  // 2 words: high halves of bytes sent and received
inline constexpr std::uint8_t starts =
    32;  // no word: the call makes or starts a request, which gets the block's next number
inline constexpr std::uint8_t lists =
    64;  // `bytes` words: the requests that are completed; of Start the one that Send_init made
inline constexpr std::uint8_t range = 128;  // 1 word: the first of `bytes` consecutive ones
}  // namespace flag

// Kinds of entries that are no calls.
namespace extra {
// What was received by a request: gap_ticks is the request, duration_ticks the source, bytes the tag; 2 words: bytes.
inline constexpr std::uint8_t status = 250;
// Part of a communicator: gap_ticks is its number, duration_ticks 1 for the remote group; `bytes` words with `lists`:
// three for each run of members: first world rank, step, how many.
inline constexpr std::uint8_t communicator = 251;
// The requests of the call before go on here.
inline constexpr std::uint8_t more = 252;
// The receiving half of the call before.
inline constexpr std::uint8_t receiving = 253;
// A request that the Startall before has started; its words are those of a Start.
inline constexpr std::uint8_t started = 254;
// The stream's thread has ended, and what follows is of another one. No words, no times.
inline constexpr std::uint8_t thread = 255;
}  // namespace extra

inline constexpr std::int32_t nobody = -1;
inline constexpr std::int32_t anybody = -2;

// A request's number: the block's, and which of its starts it is.
inline constexpr std::uint32_t starts_in_a_block = (block_bytes - sizeof(BlockHeader)) / sizeof(Entry) + 1;

}  // namespace chiplog::tracer
