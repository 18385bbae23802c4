// RDMA reads and atomic operations, whose target takes no part in them.
#pragma once

#include <optional>

#include "core/operation.hpp"
#include "patterns/views/view.hpp"

namespace chiplog::views {

// To send is to post an operation, and the answer of a peer is its completion. Each rank reads what lies at the
// beginning of a peer's window; each adds to a word of its own.
template <WritesRemotely T, Operation operation>
class PassiveOperations : public View<T> {
 public:
  using Buffer = typename T::Buffer;
  static constexpr bool has_passive_targets = true;
  static constexpr std::size_t counter_bytes = 0;
  static constexpr bool adds = operation == Operation::atomic;
  static constexpr std::size_t max_posted_sends = T::max_posted_operations;

  PassiveOperations(T& transport, const RankSettings& self) : View<T>(transport), self_(self) {}

  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return this->transport_.make_buffer(bytes); }

  // Collective.
  void reserve(std::size_t message_bytes) {
    const std::size_t wanted = std::max(message_bytes, line_bytes * static_cast<std::size_t>(self_.ranks));
    if (window_ && wanted <= window_->capacity()) return;
    window_.reset();
    window_.emplace(this->transport_.make_window(wanted));
  }

  void send(Rank peer, Buffer& buffer, std::size_t bytes) { post_send(peer, buffer, bytes); }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    if (bytes == 0) {
      this->transport_.send(peer, buffer, bytes);
      return;
    }
    if (posted_ == max_posted_sends) wait_sends();
    if constexpr (adds) {
      this->transport_.post_fetch_add({.peer = peer, .buffer = buffer, .window = *window_, .window_offset = own_word()},
                                      1);
    } else {
      this->transport_.post_read({.peer = peer, .buffer = buffer, .bytes = bytes, .window = *window_});
    }
    ++posted_;
  }
  void wait_sends() {
    this->transport_.wait_operations();
    posted_ = 0;
  }
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    if (capacity_bytes == 0) return this->transport_.recv(peer, buffer, capacity_bytes);
    wait_sends();
    return capacity_bytes;
  }

  [[nodiscard]] std::span<std::byte> landed(Rank /*peer*/, Buffer& buffer, std::size_t bytes) {
    return {buffer.data(), bytes};
  }
  // What `origin` reads or adds to.
  [[nodiscard]] std::byte* target_of(Rank origin) { return window_->data() + (adds ? word_of(origin) : 0); }

 private:
  static constexpr std::size_t line_bytes = 64;

  [[nodiscard]] static std::size_t word_of(Rank origin) { return line_bytes * static_cast<std::size_t>(origin); }
  [[nodiscard]] std::size_t own_word() const { return word_of(self_.rank); }

  RankSettings self_;
  std::optional<typename T::Window> window_;
  std::size_t posted_ = 0;
};

}  // namespace chiplog::views
