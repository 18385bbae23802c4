// A queue pair with a completion queue of its own, and its connection with the queue pair of a peer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transports/verbs/device.hpp"

namespace chiplog::verbs {

enum class Service { reliable, datagram };

struct QueueLimits {
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
  // As many as the device grants of those that were asked for.
  std::uint32_t inline_bytes = 0;
};

// All that the other end must know, as it travels between the ranks.
struct QueueAddress {
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;
  std::uint32_t mtu = 0;        // an ibv_mtu
  std::uint32_t max_reads = 0;  // that this end answers at a time
  std::uint16_t lid = 0;
  std::uint16_t is_ethernet = 0;
  ibv_gid gid{};
};

class QueuePair {
 public:
  // Receives may be posted at once.
  QueuePair(const Device& device, Service service, const QueueLimits& wanted);

  // What the device granted; at least what was wanted, but for inline bytes.
  [[nodiscard]] const QueueLimits& limits() const { return limits_; }
  [[nodiscard]] QueueAddress address() const;
  // The other end must have been made, but need not be connected, before anything is sent.
  void connect(const QueueAddress& there);

  // Adds the destination to a request of a datagram queue pair.
  void direct(ibv_send_wr& request) const {
    if (service_ != Service::datagram) return;
    request.wr.ud.ah = route_.get();
    request.wr.ud.remote_qpn = there_.number;
    request.wr.ud.remote_qkey = datagram_key;
  }
  // All of a linked list, or Error.
  void post(ibv_send_wr* requests) {
    ibv_send_wr* refused = nullptr;
    const int error = ibv_post_send(pair_.get(), requests, &refused);
    if (error != 0) [[unlikely]]
      throw_failed("posting a send", error);
  }
  void post(ibv_recv_wr* requests) {
    ibv_recv_wr* refused = nullptr;
    const int error = ibv_post_recv(pair_.get(), requests, &refused);
    if (error != 0) [[unlikely]]
      throw_failed("posting a receive", error);
  }
  int poll(ibv_wc* completions, int most) { return ibv_poll_cq(completions_.get(), most, completions); }

  // Asks for an event at the next completion; those that are there already bring none.
  void arm();
  // Blocks until there is an event or for `limit_ms`; false if there was none.
  bool await_event(int limit_ms);

 private:
  static constexpr std::uint32_t datagram_key = 0x0c41b106;

  void connect_reliable(const QueueAddress& there, ibv_ah_attr& path);
  void connect_datagram(ibv_ah_attr& path);

  const Device* device_;
  Service service_;
  QueueLimits limits_;
  QueueAddress there_{};
  std::uint32_t first_packet_;
  bool armed_ = false;
  Owned<ibv_comp_channel> channel_;
  Owned<ibv_cq> completions_;
  Owned<ibv_qp> pair_;
  Owned<ibv_ah> route_;
};

}  // namespace chiplog::verbs
