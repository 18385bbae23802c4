// Messages and one-sided operations through libfabric, over whichever of its providers.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "chiplog/contract.hpp"
#include "core/failures.hpp"
#include "transports/node_liveness.hpp"
#include "transports/ofi/completions.hpp"
#include "transports/ofi/endpoint.hpp"
#include "transports/watch.hpp"

namespace chiplog {

// Messages are tagged with the rank that sends them; a receive is posted when it is called for, so a message that comes
// earlier waits where the provider keeps such. `send` goes inline where the provider takes that many bytes. After an
// error only further errors follow.
class OfiTransport {
 public:
  using Buffer = ofi::OfiBuffer;
  using Window = ofi::OfiWindow;
  using Transfer = chiplog::Transfer<Buffer, Window>;
  using WordTransfer = chiplog::WordTransfer<Buffer, Window>;
  using Abilities = AbilityList<ability::Exchanges>;
  static constexpr std::string_view name = "ofi";
  static constexpr std::size_t max_posted_sends = 1024;
  static constexpr std::size_t max_posted_operations = 1024;

  // Collective; all connections are made when it returns.
  OfiTransport(Bootstrap& bootstrap, const OfiOptions& options, std::chrono::nanoseconds time_limit);

  // The description of what some provider may be able to do.
  [[nodiscard]] static constexpr Capabilities declared_capabilities() {
    return {.remote_write = true,
            .remote_read = true,
            .write_with_immediate = true,
            .atomics = true,
            .inline_send = true,
            .list_posting = true,
            .synchronises = true,
            .posts_receives = true,
            .multiple_hosts = true,
            .max_message_bytes = std::size_t{1} << 30U};
  }
  // The description of what this provider can do.
  [[nodiscard]] Capabilities capabilities() const { return capabilities_; }
  [[nodiscard]] std::string options_json() const { return ofi::describe_json(endpoint_.info()); }
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) { return endpoint_.make_buffer(bytes); }
  [[nodiscard]] Window make_window(std::size_t bytes);
  [[nodiscard]] std::size_t max_inline_bytes() const { return inject_bytes_; }

  void send(Rank peer, Buffer& buffer, std::size_t bytes) {
    if (bytes <= inject_bytes_) return post_send_inline(peer, buffer, bytes);
    post_send(peer, buffer, bytes);
    await(slots_[posted_ - 1]);
    --posted_;
  }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    post({Kind::send, peer, buffer.data(), bytes, buffer.descriptor(), {}, take_slot(peer)});
  }
  void post_send_inline(Rank peer, Buffer& buffer, std::size_t bytes) {
    post({Kind::send, peer, buffer.data(), bytes, buffer.descriptor(), {}, nullptr});
  }
  void wait_sends() { wait_operations(); }

  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    post_receive(peer, buffer, capacity_bytes);
    return finish_receive(peer, capacity_bytes);
  }
  void post_recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    post_receive(peer, buffer, capacity_bytes);
    receiving_from_ = peer;
    receive_room_bytes_ = capacity_bytes;
  }
  std::size_t wait_recv() { return finish_receive(receiving_from_, receive_room_bytes_); }
  std::size_t exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
    post_receive(peer, in, capacity_bytes);
    if (bytes <= inject_bytes_) {
      post_send_inline(peer, out, bytes);
    } else {
      post_send(peer, out, bytes);
    }
    const std::size_t received_bytes = finish_receive(peer, capacity_bytes);
    wait_sends();
    return received_bytes;
  }

  void post_write(const Transfer& transfer) { post(one_sided(Kind::write, transfer, take_slot(transfer.peer))); }
  void post_write_inline(const Transfer& transfer) { post(one_sided(Kind::write, transfer, nullptr)); }
  void post_write_immediate(const Transfer& transfer) {
    post(one_sided(Kind::write_immediate, transfer, take_slot(transfer.peer)));
  }
  void post_write_immediate_inline(const Transfer& transfer) {
    post(one_sided(Kind::write_immediate, transfer, nullptr));
  }
  void post_read(const Transfer& transfer) { post(one_sided(Kind::read, transfer, take_slot(transfer.peer))); }
  void post_fetch_add(const WordTransfer& word, std::uint64_t addend) {
    post(atomic(Kind::fetch_add, word, addend, 0));
  }
  void post_compare_swap(const WordTransfer& word, std::uint64_t expected, std::uint64_t desired) {
    post(atomic(Kind::compare_swap, word, desired, expected));
  }
  void wait_operations() {
    for (std::size_t i = 0; i < posted_; ++i) await(slots_[i]);
    posted_ = 0;
  }

  void progress() {
    poll([&] { completions_.poll_receives(); });
  }
  // Waits until `ready()`, which depends on `peer`: the wait ends if the peer is lost.
  template <class Ready>
  void wait_until(Rank peer, Ready ready) {
    await(peer, [&] {
      if (ready()) return true;
      progress();
      return false;
    });
  }
  void wait_immediate(Rank peer) {
    std::uint64_t& there = completions_.immediates_of(peer);
    wait_until(peer, [&] { return there > 0; });
    --there;
  }

  // The last post is held back, because only the next one or the end of the list tells whether more come.
  void begin_list() { listing_ = true; }
  void end_list();

 private:
  using Kind = ofi::Kind;

  static constexpr std::size_t slot_count = max_posted_sends + max_posted_operations;

  ofi::Slot* take_slot(Rank peer) {
    if (posted_ == slot_count) [[unlikely]] {
      throw_too_many_posted(slot_count, "operations", name);
    }
    ofi::Slot& slot = slots_[posted_++];
    slot.peer = peer;
    slot.done = false;
    return &slot;
  }

  void post_receive(Rank source, Buffer& buffer, std::size_t capacity_bytes) {
    completions_.expect(source);
    submit(source, [&] { return start_receive(source, buffer, capacity_bytes); });
  }
  std::size_t finish_receive(Rank peer, std::size_t capacity_bytes) {
    const ofi::Slot& slot = completions_.receive();
    await(peer, [&] {
      poll([&] { completions_.poll_receives(); });
      return slot.done;
    });
    if (completions_.received_bytes() > capacity_bytes) [[unlikely]] {
      failed_ = true;
      throw_truncated(peer, completions_.received_bytes(), capacity_bytes);
    }
    return completions_.received_bytes();
  }

  ssize_t start_receive(Rank source, Buffer& buffer, std::size_t capacity_bytes) {
    const auto tag = static_cast<std::uint64_t>(source);
    if (overflow_.capacity() == 0) {
      return fi_trecv(endpoint_.get(), buffer.data(), capacity_bytes, buffer.descriptor(), FI_ADDR_UNSPEC, tag, 0,
                      &completions_.receive());
    }
    const std::array<iovec, 2> places{{{buffer.data(), capacity_bytes}, {overflow_.data(), overflow_.capacity()}}};
    std::array<void*, 2> descriptors{buffer.descriptor(), nullptr};
    return fi_trecvv(endpoint_.get(), places.data(), descriptors.data(), places.size(), FI_ADDR_UNSPEC, tag, 0,
                     &completions_.receive());
  }

  // The range is checked here, because some providers lose what a peer refuses.
  ofi::Operation one_sided(Kind kind, const Transfer& transfer, ofi::Slot* slot) {
    const auto& [peer, buffer, buffer_offset, bytes, window, window_offset] = transfer;
    if (window_offset > window.capacity() || bytes > window.capacity() - window_offset) [[unlikely]] {
      throw_outside_window(peer, window_offset, bytes, window.capacity());
    }
    const Window::Part& part = window.part_of(peer);
    return {
        kind, peer, buffer.data() + buffer_offset, bytes, buffer.descriptor(), {part.address + window_offset, part.key},
        slot};
  }
  ofi::Operation atomic(Kind kind, const WordTransfer& word, std::uint64_t operand, std::uint64_t expected) {
    std::byte* const operands = operands_.data() + posted_ * operand_bytes;
    ofi::Slot* const slot = take_slot(word.peer);
    const Transfer transfer{.peer = word.peer,
                            .buffer = word.buffer,
                            .buffer_offset = word.buffer_offset,
                            .bytes = sizeof(std::uint64_t),
                            .window = word.window,
                            .window_offset = word.window_offset};
    ofi::Operation operation = one_sided(kind, transfer, slot);
    operation.operands = reinterpret_cast<std::uint64_t*>(operands);
    operation.operands[0] = operand;
    operation.operands[1] = expected;
    operation.operands_descriptor = operands_.descriptor();
    return operation;
  }

  void post(const ofi::Operation& operation) {
    if (listing_) [[unlikely]] {
      hold(operation);
      return;
    }
    submit(operation.peer, [&] { return ofi::start(caller_, endpoint_.address_of(operation.peer), operation); });
  }

  // Posts again and again until libfabric takes the operation.
  template <class Start>
  void submit(Rank peer, Start start) {
    if (failed_) [[unlikely]] {
      throw_failed();
    }
    const ssize_t result = start();
    if (result != 0) [[unlikely]] {
      submit_late(peer, start, result);
    }
  }
  template <class Start>
  [[gnu::noinline]] void submit_late(Rank peer, Start start, ssize_t result) {
    await(peer, [&] {
      if (result == -FI_EAGAIN) {
        poll([&] {
          completions_.poll_transmits();
          completions_.poll_receives();
        });
        result = start();
      }
      return result != -FI_EAGAIN;
    });
    if (result < 0) fail(static_cast<int>(-result), peer);
  }

  void await(const ofi::Slot& slot) {
    await(slot.peer, [&] {
      if (!slot.done) poll([&] { completions_.poll_transmits(); });
      return slot.done;
    });
  }
  template <class Ready>
  void await(Rank peer, Ready ready) {
    for (std::uint32_t spin = watch_.looks(); spin > 0; --spin) {
      if (ready()) return;
    }
    await_late(peer, ready);
  }
  template <class Ready>
  [[gnu::noinline]] void await_late(Rank peer, Ready ready) {
    try {
      watch_.wait(peer, ready);
    } catch (...) {
      failed_ = true;
      throw;
    }
  }
  template <class Poll>
  void poll(Poll some) {
    try {
      some();
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  void greet_all(Bootstrap& bootstrap);
  void hold(ofi::Operation operation);
  void hand_over(std::uint64_t flags);
  [[noreturn]] void fail(int code, Rank peer);
  [[noreturn]] static void throw_failed();

  static constexpr std::size_t operand_bytes = 2 * sizeof(std::uint64_t);

  Bootstrap* bootstrap_;
  std::unique_ptr<NodeLiveness> liveness_;
  Watch watch_;
  ofi::Endpoint endpoint_;
  ofi::Caller caller_;
  // The provider's limit, read once.
  std::size_t inject_bytes_;
  Capabilities capabilities_;
  ofi::Completions completions_;
  // Slots in the order of posting; those before `posted_` are outstanding or done.
  std::vector<ofi::Slot> slots_;
  std::size_t posted_ = 0;
  // The receive that is posted.
  Rank receiving_from_ = 0;
  std::size_t receive_room_bytes_ = 0;
  Buffer operands_;
  ofi::Overflow overflow_;
  bool failed_ = false;
  bool listing_ = false;
  // The last post of an open list, and the payload of an inline one.
  bool holds_ = false;
  bool held_inline_ = false;
  ofi::Operation held_{};
  std::vector<std::byte> held_payload_;
};

static_assert(TransportContract<OfiTransport>::holds);

}  // namespace chiplog
