// Messages and one-sided operations between this rank and one peer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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

  Connection(const Device& device, Rank peer, const ConnectionSettings& settings);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] QueueAddress address() const { return queue_.address(); }
  [[nodiscard]] std::size_t max_inline_bytes() const { return queue_.limits().inline_bytes; }
  void connect(const QueueAddress& there) { queue_.connect(there); }

  void send(RegisteredMemory& buffer, std::size_t bytes);
  void post_send(RegisteredMemory& buffer, std::size_t bytes, Placed placed);
  // Until no buffer is needed any more.
  void wait_sends();
  std::size_t recv(RegisteredMemory& buffer, std::size_t capacity_bytes);

  struct Operation {
    ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
    Placed placed = Placed::in_buffer;
    // Of atomic operations: what is added or expected, what is swapped in.
    std::uint64_t compare_or_add = 0;
    std::uint64_t swap = 0;
  };
  void post(const Operation& operation, const ibv_sge& here, const RemoteMemory& there);
  void wait_operations();
  void wait_immediate();

  void begin_list() { listing_ = true; }
  void end_list();
  // Until this rank's memory shows what the peer was to write there. That brings no event, so it takes looking.
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
  // Handles what has arrived, without waiting; PeerLost if the peer has left.
  void look();

 private:
  static constexpr std::uint32_t send_slots = 1024;

  void submit(ibv_send_wr& request, bool is_waited_for);
  void submit_control(std::uint32_t kind, const void* payload, std::size_t bytes);
  void flush();
  void ask_to_read(RegisteredMemory& buffer, std::size_t bytes);
  std::size_t read_into(RegisteredMemory& buffer, std::size_t capacity_bytes, const Arrival& arrival);
  void say_goodbye() noexcept;

  // Whether there was anything.
  bool poll();
  void handle(const ibv_wc& completion);
  void handle_arrival(const ibv_wc& completion);
  // From here on all calls end in PeerLost, after one in the error that is noted here.
  void note_failure(const ibv_wc& completion);
  [[noreturn]] void throw_broken();
  [[noreturn]] void throw_gone();
  [[noreturn]] void fail_truncated(std::uint64_t bytes, std::size_t capacity_bytes);

  [[nodiscard]] bool is_complete() const { return completed_ >= waited_for_; }
  // Until `is_done()`. Where only the peer can make it so, one that has left ends the wait.
  template <class Done>
  void wait_until(Done is_done, bool needs_peer);
  void rest(Wait& wait);
  void block(Wait& wait);
  void check(Wait& wait);
  void ask_peer();

  Rank peer_;
  ConnectionSettings settings_;
  WaitPolicy policy_;
  std::size_t max_eager_bytes_;
  std::size_t max_operation_bytes_;
  ReceiveRing ring_;
  RegisteredMemory controls_;
  QueuePair queue_;
  PostList list_;
  bool listing_ = false;
  bool broken_ = false;
  std::exception_ptr failure_;
  bool peer_left_ = false;
  // Work requests, in their order: how many were posted, are complete, and must be before a wait ends.
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t waited_for_ = 0;
  // Messages that the peer was asked to read, and that it has read.
  std::uint64_t read_requests_ = 0;
  std::uint64_t reads_finished_ = 0;
  std::uint64_t immediates_ = 0;
};

}  // namespace chiplog::verbs
