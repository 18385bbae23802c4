// One rank's end of the simulated network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "chiplog/remote_memory.hpp"
#include "transports/sim/network.hpp"
#include "transports/sim/window.hpp"

namespace chiplog::sim {

// Memory that nobody touches costs nothing, however large.
class SimBuffer {
 public:
  explicit SimBuffer(std::size_t bytes) : bytes_(bytes), data_(new std::byte[bytes]) {}
  [[nodiscard]] std::byte* data() { return data_.get(); }
  [[nodiscard]] std::size_t capacity() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> data_;
};

class SimTransport {
 public:
  using Buffer = SimBuffer;
  using Window = SimWindow;
  static constexpr std::string_view name = "sim";
  static constexpr std::size_t max_posted_sends = 1'000'000;
  static constexpr std::size_t max_posted_operations = 1'000'000;
  static constexpr std::size_t max_message_bytes = std::size_t{1} << 30;

  SimTransport(Network& network, Rank rank) : network_(network), rank_(rank) {}

  [[nodiscard]] Capabilities capabilities() const;
  [[nodiscard]] std::string options_json() const { return network_.parameters().json(); }
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return Buffer(bytes); }

  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    network_.post_send(rank_, peer, carries_payloads_ ? buffer.data() : nullptr, bytes);
  }
  void wait_sends() { network_.wait_sends(rank_); }
  void send(Rank peer, Buffer& buffer, std::size_t bytes) {
    post_send(peer, buffer, bytes);
    wait_sends();
  }
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return network_.recv(rank_, peer, buffer.data(), capacity_bytes);
  }

  // Real memory changes in the order in which the
  // processes' code runs, which for reads and atomic operations is not always that of virtual time.
  [[nodiscard]] Window make_window(std::size_t bytes) {
    Window window(bytes);
    window.number = network_.show_window(rank_, window.data());
    return window;
  }
  // Contents that nobody looks at stay behind, but for the last byte.
  void post_write(Rank peer, Buffer& buffer, std::size_t buffer_offset, std::size_t bytes, Window& window,
                  std::size_t window_offset) {
    network_.post_write(rank_, peer, buffer.data() + buffer_offset, bytes, carries_payloads_ ? bytes : 1,
                        network_.window_of(peer, window.number) + window_offset);
  }
  void post_write_immediate(Rank peer, Buffer& buffer, std::size_t buffer_offset, std::size_t bytes, Window& window,
                            std::size_t window_offset) {
    post_write(peer, buffer, buffer_offset, bytes, window, window_offset);
  }
  void wait_immediate(Rank peer) { network_.await_write(rank_, peer, true); }
  void post_read(Rank peer, Buffer& buffer, std::size_t buffer_offset, std::size_t bytes, Window& window,
                 std::size_t window_offset) {
    network_.post_fetch(rank_, peer, bytes);
    if (carries_payloads_)
      std::memcpy(buffer.data() + buffer_offset, network_.window_of(peer, window.number) + window_offset, bytes);
  }
  void post_fetch_add(Rank peer, Buffer& buffer, std::size_t buffer_offset, Window& window, std::size_t window_offset,
                      std::uint64_t addend) {
    network_.post_fetch(rank_, peer, sizeof addend);
    auto& word = *reinterpret_cast<std::uint64_t*>(network_.window_of(peer, window.number) + window_offset);
    std::memcpy(buffer.data() + buffer_offset, &word, sizeof word);
    word += addend;
  }
  void post_compare_swap(Rank peer, Buffer& buffer, std::size_t buffer_offset, Window& window,
                         std::size_t window_offset, std::uint64_t expected, std::uint64_t desired) {
    network_.post_fetch(rank_, peer, sizeof desired);
    auto& word = *reinterpret_cast<std::uint64_t*>(network_.window_of(peer, window.number) + window_offset);
    std::memcpy(buffer.data() + buffer_offset, &word, sizeof word);
    if (word == expected) word = desired;
  }
  void wait_operations() { network_.wait_fetches(rank_); }
  void progress() {}
  template <class Ready>
  void wait_until(Rank peer, Ready ready) {
    while (!ready()) network_.await_write(rank_, peer, false);
  }

  // Copying takes no virtual time but real time; who does not look at contents turns it off.
  void carry_payloads(bool carried) { carries_payloads_ = carried; }
  // Rank 0 begins its sample when no NIC is busy any more.
  void settle() {
    if (rank_ == 0) {
      network_.settle(rank_, 1);
    } else {
      network_.leave_meeting(rank_);
    }
  }
  // So many ranks begin theirs at the same time.
  void settle_together(int parties) { network_.settle(rank_, parties); }

 private:
  Network& network_;
  Rank rank_;
  bool carries_payloads_ = true;
};

static_assert(WritesWithImmediate<SimTransport> && ReadsRemotely<SimTransport> && AtomicOperations<SimTransport>);

}  // namespace chiplog::sim
