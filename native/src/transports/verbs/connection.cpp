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
constexpr std::uint64_t requests_between_signals = 64;
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

Connection::Connection(const Device& device, Rank peer, const ConnectionSettings& settings)
    : peer_(peer),
      settings_(settings),
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

void Connection::send(RegisteredMemory& buffer, std::size_t bytes) {
  if (bytes <= max_inline_bytes()) {
    post_send(buffer, bytes, Placed::in_request);
    return;
  }
  post_send(buffer, bytes, Placed::in_buffer);
  wait_sends();
}

void Connection::post_send(RegisteredMemory& buffer, std::size_t bytes, Placed placed) {
  if (bytes > max_eager_bytes_) {
    ask_to_read(buffer, bytes);
    return;
  }
  ibv_sge part = buffer.part(0, bytes);
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.sg_list = &part;
  request.num_sge = 1;
  if (placed == Placed::in_request) request.send_flags = IBV_SEND_INLINE;
  submit(request, placed == Placed::in_buffer);
}

void Connection::wait_sends() {
  wait_until([this] { return is_complete(); }, false);
  wait_until([this] { return reads_finished_ == read_requests_; }, true);
}

std::size_t Connection::recv(RegisteredMemory& buffer, std::size_t capacity_bytes) {
  ring_.post_spent();
  wait_until([this] { return !ring_.empty(); }, true);
  const Arrival arrival = ring_.pop();
  if (arrival.is_read_request) return read_into(buffer, capacity_bytes, arrival);
  if (arrival.bytes > capacity_bytes) fail_truncated(arrival.bytes, capacity_bytes);
  std::memcpy(buffer.data(), ring_.payload(arrival.slot), arrival.bytes);
  ring_.spend(arrival.slot);
  return arrival.bytes;
}

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

void Connection::post(const Operation& operation, const ibv_sge& here, const RemoteMemory& there) {
  const bool is_atomic =
      operation.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || operation.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
  ibv_sge part = here;
  ibv_send_wr request{};
  request.sg_list = &part;
  request.num_sge = 1;
  if (operation.placed == Placed::in_request) request.send_flags = IBV_SEND_INLINE;
  if (is_atomic) {
    request.opcode = operation.opcode;
    request.wr.atomic = {there.address, operation.compare_or_add, operation.swap, there.key};
    submit(request, true);
    return;
  }
  // What is larger than the network's messages goes in pieces; only the last one says that it has come.
  request.opcode = operation.opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WR_RDMA_WRITE : operation.opcode;
  request.wr.rdma = {there.address, there.key};
  std::size_t left_bytes = here.length;
  while (left_bytes > max_operation_bytes_) {
    part.length = static_cast<std::uint32_t>(max_operation_bytes_);
    submit(request, true);
    part.addr += part.length;
    request.wr.rdma.remote_addr += part.length;
    left_bytes -= part.length;
  }
  part.length = static_cast<std::uint32_t>(left_bytes);
  request.opcode = operation.opcode;
  submit(request, true);
}

void Connection::wait_operations() {
  wait_until([this] { return is_complete(); }, false);
}

void Connection::wait_immediate() {
  wait_until([this] { return immediates_ > 0; }, true);
  --immediates_;
}

void Connection::end_list() {
  listing_ = false;
  flush();
}

void Connection::look() {
  poll();
  if (broken_ || peer_left_) throw_gone();
}

// Requests complete in their order, so that only some need to say so.
void Connection::submit(ibv_send_wr& request, bool is_waited_for) {
  if (broken_) [[unlikely]]
    throw_broken();
  if (posted_ - completed_ >= send_slots) [[unlikely]] {
    flush();
    wait_until([this] { return posted_ - completed_ < send_slots; }, false);
  }
  const bool is_signalled = (is_waited_for && !listing_) || posted_ % requests_between_signals == 0;
  if (is_signalled) request.send_flags |= IBV_SEND_SIGNALED;
  queue_.direct(request);
  request.wr_id = posted_++;
  if (is_waited_for) waited_for_ = posted_;
  if (!listing_) {
    queue_.post(&request);
    return;
  }
  if (list_.full()) flush();
  list_.add(request);
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

void Connection::flush() {
  if (!list_.empty()) queue_.post(list_.take());
}

// Short: whoever leaves must not wait for one that left a moment earlier.
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

bool Connection::poll() {
  constexpr int most = 16;
  ibv_wc completions[most];
  const int count = queue_.poll(completions, most);
  if (count < 0) [[unlikely]]
    throw_failed("asking for completions", errno);
  for (int i = 0; i < count; ++i) handle(completions[i]);
  return count > 0;
}

void Connection::handle(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) [[unlikely]] {
    note_failure(completion);
  } else if ((completion.wr_id & ReceiveRing::mark) != 0) {
    handle_arrival(completion);
  } else {
    completed_ = completion.wr_id + 1;
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

template <class Done>
void Connection::wait_until(Done is_done, bool needs_peer) {
  Wait wait(policy_);
  while (!is_done()) {
    if (poll()) continue;
    if (broken_ || (needs_peer && peer_left_)) throw_gone();
    if (settings_.waiting == Waiting::event) {
      block(wait);
    } else if (wait.is_rest_due()) {
      rest(wait);
    }
  }
}

}  // namespace chiplog::verbs
