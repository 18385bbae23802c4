// One rank's end of the simulated network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "chiplog/contract.hpp"
#include "core/failures.hpp"
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
  using Transfer = chiplog::Transfer<Buffer, Window>;
  using WordTransfer = chiplog::WordTransfer<Buffer, Window>;
  using Abilities =
      AbilityList<ability::Settles, ability::CarriesPayloads, ability::SimulatesHosts, ability::Exchanges>;
  static constexpr std::string_view name = "sim";
  static constexpr std::size_t max_posted_sends = 1'000'000;
  static constexpr std::size_t max_posted_operations = 1'000'000;
  static constexpr std::size_t max_message_bytes = std::size_t{1} << 30;

  SimTransport(Network& network, Rank rank) : network_(network), rank_(rank) {}

  // The description under options that allow everything.
  [[nodiscard]] static constexpr Capabilities declared_capabilities() {
    return {.remote_write = true,
            .remote_read = true,  // but not between nodes that share a NIC
            .write_with_immediate = true,
            .atomics = true,
            .list_posting = true,
            .synchronises = true,  // if S is given
            .posts_receives = true,
            .max_message_bytes = max_message_bytes};
  }
  [[nodiscard]] Capabilities capabilities() const;
  [[nodiscard]] Hosts hosts() const {
    return network_.parameters().disturbances.states ? Hosts::simulated_with_states : Hosts::simulated;
  }
  [[nodiscard]] std::string options_json() const { return network_.parameters().json(); }
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return Buffer(bytes); }

  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    network_.post_send(rank_, peer, carries_payloads_ ? buffer.data() : nullptr, bytes);
  }
  void begin_list() { network_.begin_list(rank_); }
  void end_list() { network_.end_list(rank_); }
  void wait_sends() { network_.wait_sends(rank_); }
  void send(Rank peer, Buffer& buffer, std::size_t bytes) {
    post_send(peer, buffer, bytes);
    wait_sends();
  }
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return network_.recv(rank_, peer, buffer.data(), capacity_bytes);
  }

  void post_recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    network_.post_recv(rank_);
    receive_ = {peer, buffer.data(), capacity_bytes};
  }
  std::size_t wait_recv() { return network_.wait_recv(rank_, receive_.source, receive_.payload, receive_.room_bytes); }
  std::size_t exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
    network_.post_exchange(rank_, peer, carries_payloads_ ? out.data() : nullptr, bytes);
    const std::size_t received = recv(peer, in, capacity_bytes);
    wait_sends();
    return received;
  }

  // Real memory changes in the order in which the processes' code runs, which for reads and atomic operations is not
  // always that of virtual time.
  [[nodiscard]] Window make_window(std::size_t bytes) {
    Window window(bytes);
    window.number = network_.show_window(rank_, window.data());
    return window;
  }
  // Contents that nobody looks at are not copied, except for the last byte.
  void post_write(const Transfer& transfer) {
    network_.post_write(rank_, transfer.peer, transfer.buffer.data() + transfer.buffer_offset, transfer.bytes,
                        carries_payloads_ ? transfer.bytes : 1, target_of(transfer, transfer.bytes));
  }
  void post_write_immediate(const Transfer& transfer) { post_write(transfer); }
  void wait_immediate(Rank peer) { network_.await_write(rank_, peer, true); }
  void post_read(const Transfer& transfer) {
    network_.post_fetch(rank_, transfer.peer, transfer.bytes);
    if (carries_payloads_) {
      std::memcpy(transfer.buffer.data() + transfer.buffer_offset, target_of(transfer, transfer.bytes), transfer.bytes);
    }
  }
  void post_fetch_add(const WordTransfer& word, std::uint64_t addend) { fetch(word) += addend; }
  void post_compare_swap(const WordTransfer& word, std::uint64_t expected, std::uint64_t desired) {
    std::uint64_t& there = fetch(word);
    if (there == expected) there = desired;
  }
  void wait_operations() { network_.wait_fetches(rank_); }
  void progress() {}
  template <class Ready>
  void wait_until(Rank peer, Ready ready) {
    while (!ready()) network_.await_write(rank_, peer, false);
  }

  // Copying takes real time, though no virtual time. A caller that does not look at contents turns it off.
  void carry_payloads(bool carried) { carries_payloads_ = carried; }
  // Rank 0 begins its sample when no NIC is busy any more.
  void settle() {
    if (rank_ == 0) {
      network_.settle(rank_, 1);
    } else {
      network_.leave_meeting(rank_);
    }
  }
  // This many ranks begin their samples at the same time.
  void settle_together(int parties) { network_.settle(rank_, parties); }

 private:
  struct Receive {
    Rank source = 0;
    std::byte* payload = nullptr;
    std::size_t room_bytes = 0;
  };

  // The place where a transfer of this many bytes lands. `AnyTransfer` is a Transfer or a WordTransfer.
  template <class AnyTransfer>
  [[nodiscard]] std::byte* target_of(const AnyTransfer& transfer, std::size_t bytes) const {
    const std::size_t room = transfer.window.capacity();
    if (transfer.window_offset > room || bytes > room - transfer.window_offset) [[unlikely]] {
      throw_outside_window(transfer.peer, transfer.window_offset, bytes, room);
    }
    return network_.window_of(transfer.peer, transfer.window.number) + transfer.window_offset;
  }
  // Puts the value that is there into the buffer and returns its place.
  std::uint64_t& fetch(const WordTransfer& word) {
    network_.post_fetch(rank_, word.peer, sizeof(std::uint64_t));
    auto& there = *reinterpret_cast<std::uint64_t*>(target_of(word, sizeof(std::uint64_t)));
    std::memcpy(word.buffer.data() + word.buffer_offset, &there, sizeof there);
    return there;
  }

  Network& network_;
  Rank rank_;
  bool carries_payloads_ = true;
  Receive receive_;  // that is posted
};

static_assert(TransportContract<SimTransport>::holds);

}  // namespace chiplog::sim
