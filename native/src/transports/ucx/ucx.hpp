// Messages and one-sided operations through UCX's protocol layer (UCP), on whatever networks UCX finds.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "chiplog/bootstrap.hpp"
#include "chiplog/contract.hpp"
#include "core/failures.hpp"
#include "transports/aligned_buffer.hpp"
#include "transports/node_liveness.hpp"
#include "transports/ucx/network.hpp"
#include "transports/ucx/pending.hpp"
#include "transports/ucx/window.hpp"
#include "transports/watch.hpp"

namespace chiplog {

// A message is tagged with its sender's rank. UCX has no write with immediate and no lists, and decides by itself which
// payloads go with their request, so none of these is offered.
class UcxTransport {
 public:
  using Buffer = AlignedBuffer<0>;
  using Window = UcxWindow;
  using Transfer = chiplog::Transfer<Buffer, Window>;
  using WordTransfer = chiplog::WordTransfer<Buffer, Window>;
  using Abilities = AbilityList<ability::Exchanges>;
  static constexpr std::string_view name = "ucx";
  static constexpr std::size_t max_posted_sends = ucx::Pending::capacity;
  static constexpr std::size_t max_posted_operations = ucx::Pending::capacity;

  // Collective: connects every rank with every other one.
  UcxTransport(Bootstrap& bootstrap, const UcxOptions& options, std::chrono::nanoseconds time_limit);
  // Lets what was sent leave, for a short time at most.
  ~UcxTransport();
  UcxTransport(const UcxTransport&) = delete;
  UcxTransport& operator=(const UcxTransport&) = delete;

  [[nodiscard]] static constexpr Capabilities declared_capabilities() {
    return {.remote_write = true,
            .remote_read = true,
            .atomics = true,
            .synchronises = true,
            .posts_receives = true,
            .multiple_hosts = true,
            .max_message_bytes = std::size_t{1} << 30U};
  }
  [[nodiscard]] Capabilities capabilities() const { return declared_capabilities(); }
  [[nodiscard]] std::string options_json() const;
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return Buffer(bytes); }
  [[nodiscard]] Window make_window(std::size_t bytes) const { return {network_, bootstrap_, bytes}; }

  void send(Rank peer, Buffer& buffer, std::size_t bytes) {
    void* request = start_send(peer, buffer, bytes, own_tag_);
    if (request != nullptr) finish(request, peer);
  }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    if (sends_.full()) [[unlikely]] {
      throw_too_many_posted(ucx::Pending::capacity, "sends", name);
    }
    void* request = start_send(peer, buffer, bytes, own_tag_);
    if (request != nullptr) sends_.add(request, peer);
  }
  void wait_sends() { finish_all(sends_); }
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return receive(peer, buffer, capacity_bytes, static_cast<ucp_tag_t>(peer));
  }
  void post_recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    receive_ = {start_receive(peer, buffer, capacity_bytes, static_cast<ucp_tag_t>(peer)), peer};
  }
  std::size_t wait_recv() { return finish_receive(receive_.request, receive_.peer); }
  std::size_t exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
    void* receiving = start_receive(peer, in, capacity_bytes, static_cast<ucp_tag_t>(peer));
    post_send(peer, out, bytes);
    const std::size_t received_bytes = finish_receive(receiving, peer);
    wait_sends();
    return received_bytes;
  }

  // UCX may let writes overtake each other unless there is a fence between them.
  void post_write(const Transfer& transfer) {
    const auto& [peer, buffer, buffer_offset, bytes, window, window_offset] = transfer;
    const UcxWindow::Remote to = window.at(peer, window_offset, bytes);
    expect_room();
    const ucs_status_t fenced = ucx_.worker_fence(worker_);
    if (fenced != UCS_OK) [[unlikely]] {
      throw_failed(fenced, peer);
    }
    add_operation(ucx_.put_nbx(endpoint(peer), buffer.data() + buffer_offset, bytes, to.address, to.key, &plain_),
                  peer);
  }
  void post_read(const Transfer& transfer) {
    const auto& [peer, buffer, buffer_offset, bytes, window, window_offset] = transfer;
    const UcxWindow::Remote from = window.at(peer, window_offset, bytes);
    expect_room();
    add_operation(ucx_.get_nbx(endpoint(peer), buffer.data() + buffer_offset, bytes, from.address, from.key, &plain_),
                  peer);
  }
  void post_fetch_add(const WordTransfer& word, std::uint64_t addend) { post_atomic(UCP_ATOMIC_OP_ADD, word, addend); }
  void post_compare_swap(const WordTransfer& word, std::uint64_t expected, std::uint64_t desired) {
    // UCX takes what to write from where it then puts what was there.
    std::memcpy(word.buffer.data() + word.buffer_offset, &desired, sizeof desired);
    post_atomic(UCP_ATOMIC_OP_CSWAP, word, expected);
  }
  void wait_operations() { finish_all(operations_); }
  void progress() { ucx_.worker_progress(worker_); }
  template <class Ready>
  void wait_until(Rank peer, Ready ready) {
    watch_.wait(peer, [&] {
      if (ready()) return true;
      progress();
      return false;
    });
  }

 private:
  static constexpr ucp_tag_t whole_tag = ~ucp_tag_t{0};

  void shake_hands(int ranks);
  void flush() noexcept;

  [[nodiscard]] ucp_ep_h endpoint(Rank peer) const { return network_.endpoint(peer); }

  // The pointer is null when UCX is done with the request.
  void* start_send(Rank peer, Buffer& buffer, std::size_t bytes, ucp_tag_t tag) {
    void* request = ucx_.tag_send_nbx(endpoint(peer), buffer.data(), bytes, tag, &plain_);
    if (UCS_PTR_IS_ERR(request)) [[unlikely]] {
      throw_failed(UCS_PTR_STATUS(request), peer);
    }
    return request;
  }

  std::size_t receive(Rank peer, Buffer& buffer, std::size_t capacity_bytes, ucp_tag_t tag) {
    return finish_receive(start_receive(peer, buffer, capacity_bytes, tag), peer);
  }
  void* start_receive(Rank peer, Buffer& buffer, std::size_t capacity_bytes, ucp_tag_t tag) {
    void* request = ucx_.tag_recv_nbx(worker_, buffer.data(), capacity_bytes, tag, whole_tag, &receiving_);
    if (UCS_PTR_IS_ERR(request)) [[unlikely]] {
      throw_failed(UCS_PTR_STATUS(request), peer);
    }
    return request;
  }
  std::size_t finish_receive(void* request, Rank peer) {
    ucp_tag_recv_info_t received{};
    const ucs_status_t status = wait_for(request, peer, [&] { return ucx_.tag_recv_request_test(request, &received); });
    if (status != UCS_OK) [[unlikely]] {
      throw_failed(status, peer);
    }
    return received.length;
  }

  // UCX writes into the memory that a dead process has left without noticing. That ends at the latest with the samples
  // that are being taken, when ranks meet.
  void expect_room() {
    if (operations_.full()) [[unlikely]] {
      throw_too_many_posted(ucx::Pending::capacity, "operations", name);
    }
  }

  void add_operation(void* request, Rank peer) {
    if (UCS_PTR_IS_ERR(request)) [[unlikely]] {
      throw_failed(UCS_PTR_STATUS(request), peer);
    }
    if (request != nullptr) operations_.add(request, peer);
  }

  void post_atomic(ucp_atomic_op_t operation, const WordTransfer& word, std::uint64_t operand) {
    const auto& [peer, buffer, buffer_offset, window, window_offset] = word;
    const UcxWindow::Remote at = window.at(peer, window_offset, sizeof operand);
    expect_room();
    if (window_offset % sizeof operand != 0) [[unlikely]] {
      throw_unaligned(window_offset);
    }
    // UCX may still read it later.
    std::uint64_t& kept = operands_[operations_.count()];
    kept = operand;
    atomic_.reply_buffer = buffer.data() + buffer_offset;
    add_operation(ucx_.atomic_op_nbx(endpoint(peer), operation, &kept, 1, at.address, at.key, &atomic_), peer);
  }

  void finish(void* request, Rank peer) {
    const ucs_status_t status = wait_for(request, peer, [&] { return ucx_.request_check_status(request); });
    if (status != UCS_OK) [[unlikely]] {
      throw_failed(status, peer);
    }
  }
  void finish_all(ucx::Pending& pending) {
    for (const auto& [request, peer] : pending.take()) finish(request, peer);
  }

  // Lets UCX work until `status_now()` no longer says UCS_INPROGRESS, gives the request back and returns what it said.
  template <class Status>
  ucs_status_t wait_for(void* request, Rank peer, Status status_now) {
    ucs_status_t status = UCS_INPROGRESS;
    try {
      wait_until(peer, [&] { return (status = status_now()) != UCS_INPROGRESS; });
    } catch (...) {
      abandon(request);
      throw;
    }
    ucx_.request_free(request);
    return status;
  }
  void abandon(void* request);

  [[noreturn]] void throw_failed(ucs_status_t status, Rank peer) const;

  Bootstrap& bootstrap_;
  UcxOptions options_;
  NodeLiveness liveness_;
  Watch watch_;
  ucx::Network network_;
  const ucx::Library& ucx_;
  ucp_worker_h worker_;
  ucp_tag_t own_tag_;
  ucp_request_param_t plain_{};
  ucp_request_param_t receiving_{};
  ucp_request_param_t atomic_{};
  ucx::PendingRequest receive_{};
  ucx::Pending sends_;
  ucx::Pending operations_;
  std::array<std::uint64_t, max_posted_operations> operands_{};
};

static_assert(TransportContract<UcxTransport>::holds);

}  // namespace chiplog
