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
#include "chiplog/contract.hpp"
#include "transports/posted_to.hpp"
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
  // The device may grant fewer than these.
  std::uint32_t inline_bytes = 256;
};

// One queue pair for every peer. `send` puts what is short enough into the request (IBV_SEND_INLINE), `post_send` never
// does. Of datagrams (qp=ud) the network may lose some: that ends in TimedOut.
class VerbsTransport {
 public:
  using Buffer = verbs::RegisteredMemory;
  using Window = verbs::Window;
  using Transfer = chiplog::Transfer<Buffer, Window>;
  using WordTransfer = chiplog::WordTransfer<Buffer, Window>;
  using Abilities = AbilityList<ability::Exchanges>;
  static constexpr std::string_view name = "verbs";
  static constexpr std::size_t longest_message_bytes = std::size_t{1} << 30U;
  static constexpr std::size_t max_posted_sends = verbs::Connection::max_posted;
  static constexpr std::size_t max_posted_operations = verbs::Connection::max_posted;

  // Collective. Throws UsageError for a device that is not there, and Error where libibverbs or every device is
  // missing.
  VerbsTransport(Bootstrap& bootstrap, const VerbsOptions& options, std::chrono::nanoseconds time_limit);
  VerbsTransport(const VerbsTransport&) = delete;
  VerbsTransport& operator=(const VerbsTransport&) = delete;

  // The description of a device that can do all that verbs offers.
  [[nodiscard]] static constexpr Capabilities declared_capabilities() {
    return {.remote_write = true,
            .remote_read = true,
            .write_with_immediate = true,
            .atomics = true,
            .inline_send = true,
            .list_posting = true,
            .synchronises = true,
            .multiple_hosts = true,
            .max_message_bytes = longest_message_bytes};
  }
  [[nodiscard]] Capabilities capabilities() const;
  [[nodiscard]] std::string options_json() const;
  [[nodiscard]] std::size_t max_inline_bytes() const { return inline_bytes_; }
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return {device_, bytes}; }
  [[nodiscard]] Window make_window(std::size_t bytes);

  void send(Rank peer, Buffer& buffer, std::size_t bytes) { with(peer).send(buffer, bytes); }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    sends_to_.add(peer);
    with(peer).post_send(buffer, bytes, verbs::Placed::in_buffer);
  }
  void post_send_inline(Rank peer, Buffer& buffer, std::size_t bytes) {
    sends_to_.add(peer);
    with(peer).post_send(buffer, bytes, verbs::Placed::in_request);
  }
  void wait_sends() {
    sends_to_.wait_for_each([this](Rank peer) { with(peer).wait_sends(); });
  }
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return with(peer).recv(buffer, capacity_bytes);
  }

  std::size_t exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
    return with(peer).exchange(out, bytes, in, capacity_bytes);
  }

  void begin_list() { listing_ = true; }
  void end_list() {
    listing_ = false;
    for (const Rank peer : sends_to_.peers()) with(peer).flush();
    for (const Rank peer : operations_to_.peers()) with(peer).flush();
  }

  void post_write(const Transfer& transfer) { post({.opcode = IBV_WR_RDMA_WRITE}, transfer); }
  void post_write_inline(const Transfer& transfer) {
    post({.opcode = IBV_WR_RDMA_WRITE, .placed = verbs::Placed::in_request}, transfer);
  }
  void post_write_immediate(const Transfer& transfer) { post({.opcode = IBV_WR_RDMA_WRITE_WITH_IMM}, transfer); }
  void post_write_immediate_inline(const Transfer& transfer) {
    post({.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .placed = verbs::Placed::in_request}, transfer);
  }
  void post_read(const Transfer& transfer) { post({.opcode = IBV_WR_RDMA_READ}, transfer); }
  void post_fetch_add(const WordTransfer& word, std::uint64_t addend) {
    post({.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .compare_or_add = addend}, transfer_of(word));
  }
  void post_compare_swap(const WordTransfer& word, std::uint64_t expected, std::uint64_t desired) {
    post({.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .compare_or_add = expected, .swap = desired}, transfer_of(word));
  }
  void wait_operations() {
    operations_to_.wait_for_each([this](Rank peer) { with(peer).wait_operations(); });
  }
  void wait_immediate(Rank peer) { with(peer).wait_immediate(); }
  // Waits until this rank's memory shows what `peer` was to write there. Throws PeerLost if the peer has left.
  template <class Ready>
  void wait_until(Rank peer, Ready is_ready) {
    with(peer).wait_for_memory(is_ready);
  }
  // The device works by itself; now and then this looks whether a peer has left.
  void progress();

 private:
  verbs::Connection& with(Rank peer) { return *connections_[static_cast<std::size_t>(peer)]; }
  static Transfer transfer_of(const WordTransfer& word) {
    return {.peer = word.peer,
            .buffer = word.buffer,
            .buffer_offset = word.buffer_offset,
            .bytes = sizeof(std::uint64_t),
            .window = word.window,
            .window_offset = word.window_offset};
  }
  void post(const verbs::Connection::Operation& operation, const Transfer& transfer) {
    operations_to_.add(transfer.peer);
    with(transfer.peer)
        .post(operation, transfer.buffer.part(transfer.buffer_offset, transfer.bytes),
              transfer.window.at(transfer.peer, transfer.window_offset));
  }
  void connect_all();

  Bootstrap* bootstrap_;
  VerbsOptions options_;
  verbs::Device device_;
  // True between begin_list and end_list.
  bool listing_ = false;
  // There is one for each other rank, and none for this one.
  std::vector<std::unique_ptr<verbs::Connection>> connections_;
  PostedTo sends_to_;
  PostedTo operations_to_;
  std::size_t inline_bytes_ = 0;
  std::uint64_t progress_calls_ = 0;
};

static_assert(TransportContract<VerbsTransport>::holds);

}  // namespace chiplog
