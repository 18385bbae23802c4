// Messages and one-sided operations between this rank and one peer.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>

#include "chiplog/transport.hpp"
#include "core/waiting.hpp"
#include "transports/verbs/memory.hpp"
#include "transports/verbs/post_list.hpp"
#include "transports/verbs/queue_pair.hpp"
#include "transports/verbs/receive_ring.hpp"

namespace chiplog::verbs {

enum class Waiting { poll, event };

struct ConnectionSettings {
  Service service = Service::reliable;
  Waiting waiting = Waiting::poll;
  std::uint32_t inline_bytes = 256;
  std::chrono::nanoseconds time_limit = std::chrono::seconds(30);
  bool crowded = false;  // whether ranks outnumber cores, so that one that waits soon yields its own

  [[nodiscard]] bool is_reliable() const { return service == Service::reliable; }
};

enum class Placed { in_buffer, in_request };  // where the payload is until it is sent; the second is IBV_SEND_INLINE

// A message of up to `eager_bytes` is one send into a receive that the peer has posted before, from which it is copied;
// order and length are the network's own. For a longer one (reliable only) the sender says where it is, the receiver
// reads it from there into its buffer and says when it has: such a send synchronises.
//
// A sender that is ahead by more than the ring holds is put off by the peer's device and tries again (RNR). While a
// rank waits it asks now and then whether the peer is there, by a write of no bytes, which needs a living queue pair at
// the other end and nothing else. A rank that leaves says so. After an error all later calls end in PeerLost.
class Connection {
 public:
  static constexpr std::size_t eager_bytes = 8192;
  static constexpr std::uint32_t max_posted = 256;

  // While `listing` is true, posted requests are kept until `flush`.
  Connection(const Device& device, Rank peer, const ConnectionSettings& settings, const bool& listing);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] QueueAddress address() const { return queue_.address(); }
  [[nodiscard]] std::size_t max_inline_bytes() const { return queue_.limits().inline_bytes; }
  void connect(const QueueAddress& there) { queue_.connect(there); }

  void send(RegisteredMemory& buffer, std::size_t bytes);
  void post_send(RegisteredMemory& buffer, std::size_t bytes, Placed placed);
  // Waits until no buffer is needed any more.
  void wait_sends();
  std::size_t recv(RegisteredMemory& buffer, std::size_t capacity_bytes);
  std::size_t exchange(RegisteredMemory& out, std::size_t bytes, RegisteredMemory& in, std::size_t capacity_bytes);

  struct Operation {
    ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
    Placed placed = Placed::in_buffer;
    // The operands of atomic operations: the value to add or to expect, and the value to swap in.
    std::uint64_t compare_or_add = 0;
    std::uint64_t swap = 0;
  };
  void post(const Operation& operation, const ibv_sge& here, const RemoteMemory& there);
  void wait_operations();
  void wait_immediate();

  // Posts all kept requests by one call.
  void flush() {
    if (!list_.empty()) queue_.post(list_.take());
  }
  // Waits until this rank's memory shows what the peer was to write there. No event tells of it, so this polls.
  template <class Ready>
  void wait_for_memory(Ready is_ready) {
    WaitPolicy policy = WaitPolicy::make(LookCost::memory, settings_.crowded, settings_.time_limit);
    if (settings_.waiting == Waiting::event) policy.looks = 1;
    Wait wait(policy);
    while (!is_ready()) {
      if (!wait.is_rest_due()) continue;
      poll();
      if ((broken_ || peer_left_) && !is_ready()) throw_gone();
      rest(wait);
    }
  }
  // Handles what has arrived, without waiting. Throws PeerLost if the peer has left.
  void handle_arrivals();

 private:
  static constexpr std::uint32_t send_slots = 1024;
  static constexpr std::uint64_t requests_between_signals = 64;

  void submit(ibv_send_wr& request, bool is_waited_for);
  void submit_control(std::uint32_t kind, const void* payload, std::size_t bytes);
  void ask_to_read(RegisteredMemory& buffer, std::size_t bytes);
  std::size_t read_into(RegisteredMemory& buffer, std::size_t capacity_bytes, const Arrival& arrival);
  void say_goodbye() noexcept;

  // Returns whether there was anything to handle.
  bool poll();
  void handle(const ibv_wc& completion);
  void handle_arrival(const ibv_wc& completion);
  // Notes an error: the next call throws it, and all calls after that throw PeerLost.
  void note_failure(const ibv_wc& completion);
  [[noreturn]] void throw_broken();
  [[noreturn]] void throw_gone();
  [[noreturn]] void fail_truncated(std::uint64_t bytes, std::size_t capacity_bytes);

  [[nodiscard]] bool is_complete() const { return completed_ >= waited_for_; }
  // Waits until `is_done()`. Where only the peer can make it true, the wait ends if the peer has left.
  template <class Done>
  void wait_until(Done is_done, bool needs_peer);
  template <class Done>
  [[gnu::noinline]] void wait_longer(Done is_done, bool needs_peer);
  void rest(Wait& wait);
  void block(Wait& wait);
  void check(Wait& wait);
  void ask_peer();

  Rank peer_;
  ConnectionSettings settings_;
  const bool& listing_;
  WaitPolicy policy_;
  std::size_t max_eager_bytes_;
  std::size_t max_operation_bytes_;
  ReceiveRing ring_;
  RegisteredMemory controls_;
  QueuePair queue_;
  PostList list_;
  bool broken_ = false;
  std::exception_ptr failure_;
  bool peer_left_ = false;
  // Counts of work requests, which complete in their order: those posted, those complete, and those that must be
  // complete before a wait ends.
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t waited_for_ = 0;
  // Counts of messages: those that the peer was asked to read, and those that it has read.
  std::uint64_t read_requests_ = 0;
  std::uint64_t reads_finished_ = 0;
  std::uint64_t immediates_ = 0;
};

// What follows is on the path of each message.

inline void Connection::send(RegisteredMemory& buffer, std::size_t bytes) {
  if (bytes <= max_inline_bytes()) {
    post_send(buffer, bytes, Placed::in_request);
    return;
  }
  post_send(buffer, bytes, Placed::in_buffer);
  wait_sends();
}

inline void Connection::post_send(RegisteredMemory& buffer, std::size_t bytes, Placed placed) {
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

inline void Connection::wait_sends() {
  wait_until([this] { return is_complete(); }, false);
  wait_until([this] { return reads_finished_ == read_requests_; }, true);
}

inline std::size_t Connection::recv(RegisteredMemory& buffer, std::size_t capacity_bytes) {
  ring_.post_spent();
  wait_until([this] { return !ring_.empty(); }, true);
  const Arrival arrival = ring_.pop();
  if (arrival.is_read_request) return read_into(buffer, capacity_bytes, arrival);
  if (arrival.bytes > capacity_bytes) fail_truncated(arrival.bytes, capacity_bytes);
  std::memcpy(buffer.data(), ring_.payload(arrival.slot), arrival.bytes);
  ring_.spend(arrival.slot);
  return arrival.bytes;
}

// The peer's message meets a receive that was posted before it was sent.
inline std::size_t Connection::exchange(RegisteredMemory& out, std::size_t bytes, RegisteredMemory& in,
                                        std::size_t capacity_bytes) {
  const Placed placed = bytes <= max_inline_bytes() ? Placed::in_request : Placed::in_buffer;
  post_send(out, bytes, placed);
  const std::size_t received_bytes = recv(in, capacity_bytes);
  if (placed == Placed::in_buffer) wait_sends();
  return received_bytes;
}

inline void Connection::post(const Operation& operation, const ibv_sge& here, const RemoteMemory& there) {
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
  // A message larger than the network's own messages goes in pieces, of which only the last one reports its completion.
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

inline void Connection::wait_operations() {
  wait_until([this] { return is_complete(); }, false);
}

inline void Connection::wait_immediate() {
  wait_until([this] { return immediates_ > 0; }, true);
  --immediates_;
}

// Requests complete in their order, so only some need to report it.
inline void Connection::submit(ibv_send_wr& request, bool is_waited_for) {
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

inline bool Connection::poll() {
  constexpr int most = 16;
  ibv_wc completions[most];
  const int count = queue_.poll(completions, most);
  if (count < 0) [[unlikely]]
    throw_failed("asking for completions", errno);
  for (int i = 0; i < count; ++i) handle(completions[i]);
  return count > 0;
}

inline void Connection::handle(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) [[unlikely]] {
    note_failure(completion);
  } else if ((completion.wr_id & ReceiveRing::mark) != 0) {
    handle_arrival(completion);
  } else {
    completed_ = completion.wr_id + 1;
  }
}

template <class Done>
void Connection::wait_until(Done is_done, bool needs_peer) {
  while (!is_done()) {
    if (!poll()) [[unlikely]] {
      wait_longer(is_done, needs_peer);
      return;
    }
  }
}

template <class Done>
void Connection::wait_longer(Done is_done, bool needs_peer) {
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
