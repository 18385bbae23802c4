// Messages through shared memory between the ranks of one host; no system call on a message's path.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "chiplog/bootstrap.hpp"
#include "chiplog/contract.hpp"
#include "transports/aligned_buffer.hpp"
#include "transports/shm/channels.hpp"
#include "transports/shm/window.hpp"

namespace chiplog {

struct ShmOptions {
  // The size of the ring in each direction between two ranks, a power of two: a sender may be ahead by this much.
  std::size_t ring_bytes = shm::default_ring_bytes;
};

// `send` returns when the message is in the ring; one longer than the ring has room for waits for its receive, so two
// ranks that both send such messages before either receives wait for each other until the time limit; `exchange`
// receives meanwhile.
class ShmTransport {
 public:
  using Buffer = AlignedBuffer<0>;
  using Window = shm::Window;
  using Transfer = chiplog::Transfer<Buffer, Window>;
  using WordTransfer = chiplog::WordTransfer<Buffer, Window>;
  using Abilities = AbilityList<ability::Exchanges>;
  static constexpr std::string_view name = "shm";
  static constexpr std::size_t max_posted_sends = 1024;
  static constexpr std::size_t max_posted_operations = 1024;

  // Collective. Throws Error on all ranks if one of them is on another host.
  ShmTransport(Bootstrap& bootstrap, const ShmOptions& options, std::chrono::nanoseconds time_limit);

  [[nodiscard]] static constexpr Capabilities declared_capabilities() {
    return {.remote_write = true,
            .remote_read = true,
            .atomics = true,
            .synchronises = true,
            .max_message_bytes = std::size_t{1} << 30U};
  }
  [[nodiscard]] Capabilities capabilities() const { return declared_capabilities(); }
  [[nodiscard]] std::string options_json() const;
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return Buffer(bytes); }

  void send(Rank peer, Buffer& buffer, std::size_t bytes) { channels_.to(peer).send(buffer.data(), bytes); }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) { send(peer, buffer, bytes); }
  void wait_sends() {}
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return channels_.from(peer).recv(buffer.data(), capacity_bytes, channels_.to(peer));
  }
  std::size_t exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
    return channels_.exchange(peer, out.data(), bytes, in.data(), capacity_bytes, shm::Receiver::NothingToFetch{});
  }

  // One-sided operations are the processor's own loads, stores and atomic instructions; they are complete when they
  // return.
  [[nodiscard]] Window make_window(std::size_t bytes) const { return {*bootstrap_, bytes}; }
  void post_write(const Transfer& transfer) {
    transfer.window.write(transfer.peer, transfer.window_offset, transfer.buffer.data() + transfer.buffer_offset,
                          transfer.bytes);
  }
  void post_read(const Transfer& transfer) {
    transfer.window.read(transfer.peer, transfer.window_offset, transfer.buffer.data() + transfer.buffer_offset,
                         transfer.bytes);
  }
  void post_fetch_add(const WordTransfer& word, std::uint64_t addend) {
    const std::uint64_t before = word.window.word(word.peer, word.window_offset).fetch_add(addend);
    std::memcpy(word.buffer.data() + word.buffer_offset, &before, sizeof before);
  }
  void post_compare_swap(const WordTransfer& word, std::uint64_t expected, std::uint64_t desired) {
    word.window.word(word.peer, word.window_offset).compare_exchange_strong(expected, desired);
    std::memcpy(word.buffer.data() + word.buffer_offset, &expected, sizeof expected);
  }
  void wait_operations() {}
  void progress() {}
  template <class Ready>
  void wait_until(Rank peer, Ready ready) {
    channels_.watch().wait_for_write(peer, ready);
  }

 private:
  Bootstrap* bootstrap_;
  ShmOptions options_;
  shm::Channels channels_;
};

static_assert(TransportContract<ShmTransport>::holds);

}  // namespace chiplog
