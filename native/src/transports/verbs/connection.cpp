#include "transports/verbs/connection.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "chiplog/error.hpp"
#include "core/failures.hpp"
#include "transports/verbs/failure.hpp"

namespace chiplog::verbs {
namespace {

// As many as a peer may have outstanding of both kinds, and the spent one: only a rank that does not look puts it off.
constexpr std::uint32_t receive_slots = 2 * Connection::max_posted + 1;
constexpr std::size_t route_header_bytes = 40;  // in front of every datagram
constexpr std::chrono::seconds farewell_limit{2};

// What the immediate of a send says; a message has none.
enum Control : std::uint32_t { read_request = 1, read_finished = 2, goodbye = 3 };

// The payload of `read_request`.
struct Announcement {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t key;
};

}  // namespace

Connection::Connection(const Device& device, Rank peer, const ConnectionSettings& settings, const bool& listing)
    : peer_(peer),
      settings_(settings),
      listing_(listing),
      policy_(WaitPolicy::make(LookCost::library, settings.crowded, settings.time_limit)),
      max_eager_bytes_(settings.is_reliable() ? eager_bytes : device.mtu_bytes()),
      max_operation_bytes_(device.port.max_msg_sz),
      ring_(device, receive_slots, settings.is_reliable() ? 0 : route_header_bytes, max_eager_bytes_),
      controls_(device, send_slots * sizeof(Announcement)),
      queue_(device, settings.service, {send_slots, receive_slots, settings.inline_bytes}),
      list_(max_posted, queue_.limits().inline_bytes) {
  ring_.give_to(queue_);
}

Connection::~Connection() { say_goodbye(); }

void Connection::ask_to_read(RegisteredMemory& buffer, std::size_t bytes) {
  if (!settings_.is_reliable()) {
    throw UsageError("verbs with qp=ud carries messages of up to " + std::to_string(max_eager_bytes_) + " bytes, not " +
                     std::to_string(bytes));
  }
  const Announcement announcement{reinterpret_cast<std::uintptr_t>(buffer.data()), bytes, buffer.remote_key()};
  submit_control(read_request, &announcement, sizeof announcement);
  ++read_requests_;
}

std::size_t Connection::read_into(RegisteredMemory& buffer, std::size_t capacity_bytes, const Arrival& arrival) {
  Announcement announcement{};
  std::memcpy(&announcement, ring_.payload(arrival.slot), sizeof announcement);
  ring_.post(arrival.slot);
  if (announcement.bytes > capacity_bytes) fail_truncated(announcement.bytes, capacity_bytes);
  post({.opcode = IBV_WR_RDMA_READ}, buffer.part(0, announcement.bytes), {announcement.address, announcement.key});
  wait_until([this] { return is_complete(); }, false);
  submit_control(read_finished, nullptr, 0);
  return announcement.bytes;
}

void Connection::handle_arrivals() {
  poll();
  if (broken_ || peer_left_) throw_gone();
}

void Connection::submit_control(std::uint32_t kind, const void* payload, std::size_t bytes) {
  const std::size_t at = posted_ % send_slots * sizeof(Announcement);
  ibv_sge part = controls_.part(at, bytes);
  if (bytes > 0) std::memcpy(controls_.data() + at, payload, bytes);
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.imm_data = htonl(kind);
  request.sg_list = &part;
  request.num_sge = 1;
  submit(request, true);
}

// This limit is short, because a rank that leaves must not wait for one that left a moment earlier.
void Connection::say_goodbye() noexcept {
  if (broken_ || peer_left_) return;
  policy_.time_limit = std::min<std::chrono::nanoseconds>(policy_.time_limit, farewell_limit);
  try {
    submit_control(goodbye, nullptr, 0);
    flush();
    wait_until([this] { return is_complete() || peer_left_; }, false);
  } catch (const std::exception&) {
  }
}

void Connection::handle_arrival(const ibv_wc& completion) {
  const auto slot = static_cast<std::uint32_t>(completion.wr_id & ~ReceiveRing::mark);
  if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    ++immediates_;
    ring_.post(slot);
    return;
  }
  const auto bytes = static_cast<std::uint32_t>(completion.byte_len - ring_.headroom_bytes());
  if ((completion.wc_flags & IBV_WC_WITH_IMM) == 0) {
    ring_.push({slot, bytes, false});
    return;
  }
  switch (ntohl(completion.imm_data)) {
    case read_request:
      ring_.push({slot, bytes, true});
      return;
    case read_finished:
      ++reads_finished_;
      ring_.post(slot);
      return;
    default:
      peer_left_ = true;
  }
}

void Connection::note_failure(const ibv_wc& completion) {
  if (broken_) return;  // what was posted behind the first failure is flushed with an error, too
  broken_ = true;
  failure_ = failure_of(completion, peer_);
}

void Connection::throw_broken() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  throw_disconnected(peer_);
}

void Connection::throw_gone() {
  if (broken_) throw_broken();
  broken_ = true;
  throw_closed(peer_);
}

void Connection::fail_truncated(std::uint64_t bytes, std::size_t capacity_bytes) {
  say_goodbye();  // the sender may wait for its message to be read
  broken_ = true;
  throw_truncated(peer_, bytes, capacity_bytes);
}

}  // namespace chiplog::verbs
