// The layout of the shared memory: one channel for each ordered pair of ranks, with one producer and one consumer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/cache_lines.hpp"

namespace chiplog::shm {

inline constexpr std::size_t page_bytes = 4096;

inline constexpr std::size_t inline_bytes = line_bytes - sizeof(std::uint64_t);
inline constexpr std::uint64_t slot_count = 2048;
inline constexpr std::size_t default_ring_bytes = std::size_t{1} << 20U;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "ranks are processes: an atomic must be without a lock");

// A message up to `inline_bytes` travels in one cache line, together with the word that announces it.
struct alignas(line_bytes) Slot {
  // Upper 16 bits: which lap around the slots this message belongs to; lower 48 bits: its length, with
  // `stays_with_sender` or without. Memory begins as zeros, which is no lap's number.
  std::atomic<std::uint64_t> announcement;
  std::byte payload[inline_bytes];
};
static_assert(sizeof(Slot) == line_bytes);

// The bytes of the ring follow the channel in memory. Longer messages begin there on a cache line each.
struct Channel {
  Slot slots[slot_count];
  // Written by the receiver, now and then: how many slots it has read.
  alignas(apart_bytes) std::atomic<std::uint64_t> slots_read;
  // Written by the receiver: the position in the ring up to which it has read, and whether it gave up.
  alignas(apart_bytes) std::atomic<std::uint64_t> ring_read;
  std::atomic<std::uint32_t> given_up;
  // Written by the receiver: how many of the messages that stay with their sender it has fetched.
  std::atomic<std::uint64_t> fetched;
  // Written by the sender within a message of several chunks: the position up to which it has written.
  alignas(apart_bytes) std::atomic<std::uint64_t> ring_written;
  alignas(page_bytes) std::byte end_of_channel[1];

  [[nodiscard]] std::byte* ring() { return end_of_channel; }
};

[[nodiscard]] constexpr std::uint64_t announce(std::uint64_t message_number, std::size_t message_bytes) {
  const std::uint64_t lap = message_number / slot_count + 1;
  return lap << 48U | message_bytes;
}

inline constexpr std::uint64_t length_mask = (std::uint64_t{1} << 48U) - 1;

// Of a message whose bytes do not pass through the channel: the receiver fetches them, by what the payload of the slot
// tells. No message is that long, so that it looks too long to whoever does not know of it.
inline constexpr std::uint64_t stays_with_sender = std::uint64_t{1} << 47U;

// Several times one chunk fits into the ring, so that copying in and copying out go on at the same time.
[[nodiscard]] constexpr std::size_t chunk_bytes_of(std::size_t ring_bytes) {
  const std::size_t chunk = ring_bytes / 8;
  constexpr std::size_t best = 8192;
  return chunk < best ? chunk : best;
}

[[nodiscard]] constexpr std::size_t channel_bytes(std::size_t ring_bytes) {
  return offsetof(Channel, end_of_channel) + ring_bytes;
}

}  // namespace chiplog::shm
