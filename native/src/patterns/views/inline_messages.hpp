// Messages whose payload goes along with the request.
#pragma once

#include "patterns/views/view.hpp"

namespace chiplog::views {

template <SendsInline T>
class InlineMessages : public View<T> {
 public:
  using Buffer = typename T::Buffer;
  static constexpr std::size_t max_posted_sends = T::max_posted_sends;
  static constexpr bool has_passive_targets = false;
  static constexpr std::size_t counter_bytes = 0;

  InlineMessages(T& transport, const RankSettings&) : View<T>(transport) {}

  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return this->transport_.make_buffer(bytes); }
  void reserve(std::size_t /*message_bytes*/) {}

  // An inline send is complete when it is posted.
  void send(Rank peer, Buffer& buffer, std::size_t bytes) { post_send(peer, buffer, bytes); }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    if (bytes == 0) {
      this->transport_.send(peer, buffer, bytes);
    } else {
      this->transport_.post_send_inline(peer, buffer, bytes);
    }
  }
  void wait_sends() { this->transport_.wait_sends(); }
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return this->transport_.recv(peer, buffer, capacity_bytes);
  }
  void post_recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes)
    requires PostsReceives<T>
  {
    this->transport_.post_recv(peer, buffer, capacity_bytes);
  }
  auto wait_recv()
    requires PostsReceives<T>
  {
    return this->transport_.wait_recv();
  }
  [[nodiscard]] std::span<std::byte> landed(Rank /*peer*/, Buffer& buffer, std::size_t bytes) {
    return {buffer.data(), bytes};
  }
};

}  // namespace chiplog::views
