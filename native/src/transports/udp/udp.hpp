// Messages over UDP datagrams between all ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "chiplog/contract.hpp"
#include "core/waiting.hpp"
#include "transports/aligned_buffer.hpp"
#include "transports/udp/link.hpp"

namespace chiplog {

// Messages arrive whole and in order, as the patterns need them, and what was lost or sent again on the way is counted:
// `counters`. A message that is longer than a datagram goes in several.
//
// `send` returns when the kernel has taken the last datagram and a copy is kept; it waits while the window is used up.
// A rank that takes no part for a while must call `flush` before: nobody else repeats what was lost of its messages.
class UdpTransport {
 public:
  using Buffer = AlignedBuffer<0>;
  using Abilities = AbilityList<ability::Counts, ability::Flushes, ability::Exchanges>;
  static constexpr std::string_view name = "udp";
  static constexpr std::size_t max_posted_sends = 256;
  static constexpr Capabilities declared_capabilities() {
    return {.multiple_hosts = true, .max_message_bytes = std::size_t{1} << 30U};
  }

  // There is one link for each other rank, in the order of the ranks.
  UdpTransport(std::unique_ptr<udp::Shared> shared, std::vector<std::unique_ptr<udp::Link>> links,
               std::string options_json);
  UdpTransport(UdpTransport&&) = default;
  UdpTransport& operator=(UdpTransport&&) = default;
  // Waits a moment until peers have what was sent to them, unless an error is the reason for its end.
  ~UdpTransport();

  [[nodiscard]] Capabilities capabilities() const { return declared_capabilities(); }
  [[nodiscard]] std::string options_json() const { return options_json_; }
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return Buffer(bytes); }
  // The counts of all links of this rank since the transport was made.
  [[nodiscard]] std::vector<Counter> counters() const;

  void send(Rank peer, Buffer& buffer, std::size_t bytes) {
    udp::Link& to = link(peer);
    shared_->pacer.before_message();
    std::size_t sent = 0;
    do {
      const std::size_t part_bytes = std::min(bytes - sent, to.max_payload_bytes());
      if (!to.has_room(part_bytes)) [[unlikely]] {
        wait_for_room(to, part_bytes);
      }
      to.send(buffer.data() + sent, part_bytes, bytes);
      sent += part_bytes;
    } while (sent < bytes);
  }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) { send(peer, buffer, bytes); }
  void wait_sends() {}
  // While the window is used up what comes is received into place, not kept.
  std::size_t exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes);
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    udp::Assembly message{buffer.data(), capacity_bytes};
    udp::Link& from = link(peer);
    if (from.poll(&message) != udp::Polled::whole_message) [[unlikely]] {
      finish_recv(from, message);
    }
    return message.got_bytes;
  }
  // Waits until every peer has told that all messages have arrived, and tells peers the same.
  void flush();

 private:
  udp::Link& link(Rank peer) { return *links_[static_cast<std::size_t>(peer)]; }
  // Receives meanwhile into `message`, if there is one. Returns whether that is whole now.
  bool wait_for_room(udp::Link& to, std::size_t payload_bytes, udp::Assembly* message = nullptr);
  void finish_recv(udp::Link& from, udp::Assembly& message);
  void flush_within(std::chrono::nanoseconds limit);
  // After a look that found nothing: looks after all links, throws when `on` is lost or has been silent for too long.
  void wait_on(udp::Link& on, Wait& wait);
  void attend_all(udp::Link::TimePoint now);
  void sleep_until_something_happens();

  std::unique_ptr<udp::Shared> shared_;
  std::vector<std::unique_ptr<udp::Link>> links_;
  std::string options_json_;
};

static_assert(TransportContract<UdpTransport>::holds);

struct UdpOptions {
  // These two mean the same as tcp's.
  std::string bind = {};
  udp::Waiting waiting = udp::Waiting::block;
  // The payload of the longest datagram. Without a value it is what travels in one packet.
  std::optional<std::size_t> datagram_bytes = std::nullopt;
  // How much of a receiver's buffer one sender may use. Without a value it is three quarters of it.
  std::optional<std::size_t> window_bytes = std::nullopt;
  double bytes_per_second = 0.0;     // 0: no limit
  double messages_per_second = 0.0;  // 0: no limit
};

// Collective. Throws UsageError if this rank can't have the address that it should, or as connect_over_tcp.
UdpTransport make_udp_transport(Bootstrap& bootstrap, const UdpOptions& options, std::chrono::nanoseconds time_limit);

}  // namespace chiplog
