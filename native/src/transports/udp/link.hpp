// Messages to and from one peer over datagrams: in order, once, and all of them.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bootstrap/socket.hpp"
#include "chiplog/transport.hpp"
#include "transports/stream/link.hpp"
#include "transports/udp/inbox.hpp"
#include "transports/udp/outbox.hpp"
#include "transports/udp/pacer.hpp"

namespace chiplog::udp {

using stream::Waiting;

// A rank that waits looks after all its links this often.
inline constexpr std::chrono::milliseconds patience{10};

// What the links of a rank share.
struct Shared {
  Waiting waiting = Waiting::block;
  std::chrono::nanoseconds time_limit{};
  std::uint32_t run = 0;
  Pacer pacer;
  std::unique_ptr<std::byte[]> spill;  // of `spill_bytes`: what a datagram has beyond the room for it
  Counters counters{};

  static constexpr std::size_t spill_bytes = 65536;
};

// A message that is being received.
struct Assembly {
  std::byte* payload;
  std::size_t capacity_bytes;
  std::size_t got_bytes = 0;
};

enum class Polled { nothing, something, whole_message };

// Sending costs one system call a datagram and so does receiving. What was sent is acknowledged by whatever comes back,
// by a datagram of its own only when half of the window is used. After a silence of `patience` the sender asks what has
// arrived, and sends again what the answer doesn't name: nothing is sent twice because a receiver is slow.
//
// A stream connection beside the datagrams tells at once, and surely, when the peer is gone, and carries the last
// acknowledgements of a pattern (`tell`): after those a rank may leave, and would answer no question.
class Link {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Link(FileDescriptor datagrams, FileDescriptor beside, Rank peer, std::size_t max_payload_bytes,
       std::size_t window_bytes, Shared& shared);

  [[nodiscard]] Rank peer() const { return peer_; }
  [[nodiscard]] std::size_t max_payload_bytes() const { return max_payload_bytes_; }
  [[nodiscard]] bool has_room(std::size_t payload_bytes) const { return outbox_.fits(sizeof(Header) + payload_bytes); }
  [[nodiscard]] bool all_acknowledged() const { return outbox_.empty(); }
  [[nodiscard]] std::uint64_t acknowledged() const { return outbox_.first(); }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] int datagrams_fd() const { return datagrams_.get(); }
  [[nodiscard]] int beside_fd() const { return beside_.get(); }

  // Sends a part of a message of `message_bytes`. There must be room for it.
  void send(const std::byte* payload, std::size_t payload_bytes, std::size_t message_bytes);

  // Takes at most one datagram, waiting for it up to `patience` if ranks block. Without an assembly data is kept.
  Polled poll(Assembly* assembly) { return poll(assembly, closed_ ? MSG_DONTWAIT : receive_flags_); }

  // Reads what is there without waiting, and asks what has arrived of what was sent if it is time for that.
  void attend(TimePoint now);
  void ask_from(TimePoint when) { question_due_ = when; }
  // Tells the peer all that has arrived, so that the peer can be sure of it.
  void tell();

  // After an error all later calls end in PeerLost.
  void close();
  [[noreturn]] void throw_lost();
  [[noreturn]] void throw_timed_out();

 private:
  Polled poll(Assembly* assembly, int flags);
  Polled take_kept(Assembly& assembly);
  Polled take_data(const Header& header, std::size_t payload_bytes, Assembly* assembly);
  // Counts a part that is in place.
  Polled add_part(Assembly& assembly, std::size_t part_bytes, std::uint64_t message_bytes);
  void check_length(const Assembly& assembly, std::uint64_t message_bytes);
  [[nodiscard]] bool is_one_of_ours(const Header& header, std::size_t bytes) const;
  void acknowledge(std::uint64_t expected);
  void read_beside();
  void drain();
  void send_again(const Header& answer);
  void send_word(Kind kind, std::uint64_t number, std::uint64_t detail);
  void transmit(std::span<const std::byte> datagram);

  FileDescriptor datagrams_;
  FileDescriptor beside_;
  Rank peer_;
  std::size_t max_payload_bytes_;
  Shared& shared_;
  int receive_flags_;
  Outbox outbox_;
  Inbox inbox_;
  bool closed_ = false;
  std::size_t charged_since_request_ = 0;
  std::uint64_t questions_ = 0;
  TimePoint question_due_{};
  std::chrono::milliseconds question_gap_ = patience;
  std::uint64_t told_ = 0;
  std::array<std::byte, sizeof(std::uint64_t)> heard_{};
  std::size_t heard_bytes_ = 0;
};

}  // namespace chiplog::udp
