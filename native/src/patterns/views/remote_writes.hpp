// RDMA writes as messages: into a mailbox that the receiver watches, or announced by immediate data.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/operation.hpp"
#include "patterns/views/view.hpp"

namespace chiplog::views {

// Every rank has one mailbox for each other rank. A message ends where its mailbox ends, so that its last byte, a
// counter, is always at the same place: the receiver waits for that byte to reach the number that it expects, as
// perftest's ib_write_lat does. Messages to one mailbox overwrite each other; no pattern looks at the contents of those
// that it does not answer.
//
// A write that is under way may still be read from the sender's buffer. So that its counter isn't overwritten, each of
// the writes between two waits begins one cache line further into the buffer. A send is over when it is posted: its
// completion is waited for when `depth` are out, or when the pattern asks.
template <WritesRemotely T, Operation operation, Posting posting>
class RemoteWrites : public View<T> {
 public:
  using Buffer = typename T::Buffer;
  static constexpr bool has_passive_targets = false;
  static constexpr bool counts = operation == Operation::rdma_write;
  static constexpr bool in_line = posting == Posting::in_line;
  static constexpr std::size_t depth = std::min<std::size_t>(most_unanswered_writes, T::max_posted_operations);
  static constexpr std::size_t max_posted_sends = depth;
  // The bytes at the end of a message that hold the counter.
  static constexpr std::size_t counter_bytes = counts ? 1 : 0;

  RemoteWrites(T& transport, const RankSettings& self)
      : View<T>(transport),
        self_(self),
        sent_(static_cast<std::size_t>(self.ranks)),
        received_(static_cast<std::size_t>(self.ranks)) {}

  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const {
    return this->transport_.make_buffer(bytes + (in_line ? 0 : depth * line_bytes));
  }

  // Makes mailboxes for messages of this size. Collective.
  void reserve(std::size_t message_bytes) {
    const std::size_t wanted = (message_bytes + line_bytes - 1) / line_bytes * line_bytes;
    if (window_ && wanted <= mailbox_bytes_) return;
    mailbox_bytes_ = wanted;
    window_.reset();
    window_.emplace(this->transport_.make_window(mailbox_bytes_ * sent_.size()));
    sent_.assign(sent_.size(), 0);
    received_.assign(received_.size(), 0);
  }

  void send(Rank peer, Buffer& buffer, std::size_t bytes) {
    post_send(peer, buffer, bytes);
    if constexpr (offers<T, ability::BeginsOperationsAtWait>) wait_sends();
  }

  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    if (bytes == 0) {
      this->transport_.send(peer, buffer, bytes);
      return;
    }
    if (posted_ == depth) wait_sends();
    const std::size_t source = in_line ? 0 : posted_ * line_bytes;
    if constexpr (counts) buffer.data()[source + bytes - 1] = std::byte{++sent_[static_cast<std::size_t>(peer)]};
    post({.peer = peer,
          .buffer = buffer,
          .buffer_offset = source,
          .bytes = bytes,
          .window = *window_,
          .window_offset = end_of_mailbox(self_.rank) - bytes});
    ++posted_;
  }

  void wait_sends() {
    this->transport_.wait_operations();
    posted_ = 0;
  }

  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    if (capacity_bytes == 0) return this->transport_.recv(peer, buffer, capacity_bytes);
    if constexpr (offers<T, ability::BeginsOperationsAtWait>) {
      if (posted_ > 0) wait_sends();
    }
    if constexpr (counts) {
      await_counter(peer);
    } else {
      this->transport_.wait_immediate(peer);
    }
    return capacity_bytes;
  }

  void progress() { this->transport_.progress(); }

  // The place where the last message of `peer`, of this length, has landed: with immediate data all of it, else its
  // last byte and, where a processor copies, perhaps not all the others yet.
  [[nodiscard]] std::span<std::byte> landed(Rank peer, Buffer&, std::size_t bytes) {
    return {window_->data() + end_of_mailbox(peer) - bytes, bytes};
  }

 private:
  static constexpr std::size_t line_bytes = 64;

  [[nodiscard]] std::size_t end_of_mailbox(Rank of) const {
    return (static_cast<std::size_t>(of) + 1) * mailbox_bytes_;
  }

  void post(const TransferOf<T>& transfer) {
    T& transport = this->transport_;
    if constexpr (counts && in_line) transport.post_write_inline(transfer);
    if constexpr (counts && !in_line) transport.post_write(transfer);
    if constexpr (!counts && in_line) transport.post_write_immediate_inline(transfer);
    if constexpr (!counts && !in_line) transport.post_write_immediate(transfer);
  }

  // A later number is there already where messages have overtaken the one that is waited for.
  void await_counter(Rank peer) {
    const std::uint8_t expected = ++received_[static_cast<std::size_t>(peer)];
    std::byte* last = window_->data() + end_of_mailbox(peer) - 1;
    const std::atomic_ref<std::uint8_t> counter(*reinterpret_cast<std::uint8_t*>(last));
    this->transport_.wait_until(peer, [&] {
      const auto ahead = static_cast<std::uint8_t>(counter.load(std::memory_order_acquire) - expected);
      return ahead < 128;
    });
  }

  RankSettings self_;
  std::optional<typename T::Window> window_;
  std::size_t mailbox_bytes_ = 0;
  std::size_t posted_ = 0;
  // The counters of messages to and from each rank.
  std::vector<std::uint8_t> sent_;
  std::vector<std::uint8_t> received_;
};

}  // namespace chiplog::views
