// One rank's end of the simulated network.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "chiplog/transport.hpp"
#include "transports/sim/network.hpp"

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
  static constexpr std::string_view name = "sim";
  static constexpr std::size_t max_posted_sends = 1'000'000;
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

static_assert(Transport<SimTransport>);

}  // namespace chiplog::sim
