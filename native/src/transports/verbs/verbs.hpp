// Messages and one-sided operations over RDMA devices, by libibverbs.
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
#include "chiplog/remote_memory.hpp"
#include "transports/verbs/connection.hpp"
#include "transports/verbs/device.hpp"
#include "transports/verbs/memory.hpp"

namespace chiplog {

struct VerbsOptions {
  // Rank r uses the device r modulo their number; none: each rank the first of its host with an active port.
  std::vector<std::string> devices = {};
  std::optional<int> gid_index = std::nullopt;
  verbs::Service service = verbs::Service::reliable;
  verbs::Waiting waiting = verbs::Waiting::poll;
  // As many as the device grants, up to these.
  std::uint32_t inline_bytes = 256;
};

// One queue pair for every peer. `send` puts what is short enough into the request (IBV_SEND_INLINE), `post_send` never
// does. Of datagrams (qp=ud) the network may lose some: that ends in TimedOut.
class VerbsTransport {
 public:
  using Buffer = verbs::RegisteredMemory;
  using Window = verbs::Window;
  static constexpr std::string_view name = "verbs";
  static constexpr std::size_t max_posted_sends = verbs::Connection::max_posted;
  static constexpr std::size_t max_posted_operations = verbs::Connection::max_posted;

  // Collective. UsageError for a device that is not there; Error where libibverbs or every device is missing.
  VerbsTransport(Bootstrap& bootstrap, const VerbsOptions& options, std::chrono::nanoseconds time_limit);

  // Of a device that can all that verbs can.
  [[nodiscard]] static Capabilities declared_capabilities();
  [[nodiscard]] Capabilities capabilities() const;
  [[nodiscard]] std::string options_json() const;
  [[nodiscard]] std::size_t max_inline_bytes() const { return inline_bytes_; }
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return {device_, bytes}; }
  [[nodiscard]] Window make_window(std::size_t bytes);

  void send(Rank peer, Buffer& buffer, std::size_t bytes) { with(peer).send(buffer, bytes); }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    with(peer).post_send(buffer, bytes, verbs::Placed::in_buffer);
  }
  void post_send_inline(Rank peer, Buffer& buffer, std::size_t bytes) {
    with(peer).post_send(buffer, bytes, verbs::Placed::in_request);
  }
  void wait_sends();
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return with(peer).recv(buffer, capacity_bytes);
  }

  void begin_list();
  void end_list();

  void post_write(Rank peer, Buffer& buffer, std::size_t buffer_offset, std::size_t bytes, Window& window,
                  std::size_t window_offset) {
    post({.opcode = IBV_WR_RDMA_WRITE}, peer, buffer.part(buffer_offset, bytes), window, window_offset);
  }
  void post_write_inline(Rank peer, Buffer& buffer, std::size_t buffer_offset, std::size_t bytes, Window& window,
                         std::size_t window_offset) {
    post({.opcode = IBV_WR_RDMA_WRITE, .placed = verbs::Placed::in_request}, peer, buffer.part(buffer_offset, bytes),
         window, window_offset);
  }
  void post_write_immediate(Rank peer, Buffer& buffer, std::size_t buffer_offset, std::size_t bytes, Window& window,
                            std::size_t window_offset) {
    post({.opcode = IBV_WR_RDMA_WRITE_WITH_IMM}, peer, buffer.part(buffer_offset, bytes), window, window_offset);
  }
  void post_write_immediate_inline(Rank peer, Buffer& buffer, std::size_t buffer_offset, std::size_t bytes,
                                   Window& window, std::size_t window_offset) {
    post({.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .placed = verbs::Placed::in_request}, peer,
         buffer.part(buffer_offset, bytes), window, window_offset);
  }
  void post_read(Rank peer, Buffer& buffer, std::size_t buffer_offset, std::size_t bytes, Window& window,
                 std::size_t window_offset) {
    post({.opcode = IBV_WR_RDMA_READ}, peer, buffer.part(buffer_offset, bytes), window, window_offset);
  }
  void post_fetch_add(Rank peer, Buffer& buffer, std::size_t buffer_offset, Window& window, std::size_t window_offset,
                      std::uint64_t addend) {
    post({.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .compare_or_add = addend}, peer,
         buffer.part(buffer_offset, sizeof addend), window, window_offset);
  }
  void post_compare_swap(Rank peer, Buffer& buffer, std::size_t buffer_offset, Window& window,
                         std::size_t window_offset, std::uint64_t expected, std::uint64_t desired) {
    post({.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .compare_or_add = expected, .swap = desired}, peer,
         buffer.part(buffer_offset, sizeof desired), window, window_offset);
  }
  void wait_operations();
  void wait_immediate(Rank peer) { with(peer).wait_immediate(); }
  // Until this rank's memory shows what `peer` was to write there; PeerLost if it has left.
  template <class Ready>
  void wait_until(Rank peer, Ready is_ready) {
    with(peer).wait_for_memory(is_ready);
  }
  // The device works by itself; now and then this looks whether a peer has left.
  void progress();

 private:
  verbs::Connection& with(Rank peer) { return *connections_[static_cast<std::size_t>(peer)]; }
  void post(const verbs::Connection::Operation& operation, Rank peer, const ibv_sge& here, const Window& window,
            std::size_t window_offset) {
    with(peer).post(operation, here, window.at(peer, window_offset));
  }
  void connect_all();

  Bootstrap* bootstrap_;
  VerbsOptions options_;
  verbs::Device device_;
  // One a rank, none for this one.
  std::vector<std::unique_ptr<verbs::Connection>> connections_;
  std::size_t inline_bytes_ = 0;
  std::uint64_t progress_calls_ = 0;
};

static_assert(WritesImmediateInline<VerbsTransport> && ReadsRemotely<VerbsTransport>);
static_assert(AtomicOperations<VerbsTransport> && SendsInline<VerbsTransport> && CollectsPosts<VerbsTransport>);

}  // namespace chiplog
