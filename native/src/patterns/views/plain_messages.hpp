// The messages of a transport as they are.
#pragma once

#include "patterns/views/view.hpp"

namespace chiplog::views {

template <Messaging T>
class PlainMessages : public View<T> {
 public:
  using Buffer = typename T::Buffer;
  static constexpr std::size_t max_posted_sends = T::max_posted_sends;
  static constexpr bool has_passive_targets = false;
  static constexpr std::size_t counter_bytes = 0;

  PlainMessages(T& transport, const RankSettings&) : View<T>(transport) {}

  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return this->transport_.make_buffer(bytes); }
  void reserve(std::size_t /*message_bytes*/) {}

  void send(Rank peer, Buffer& buffer, std::size_t bytes) { this->transport_.send(peer, buffer, bytes); }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) { this->transport_.post_send(peer, buffer, bytes); }
  void wait_sends() { this->transport_.wait_sends(); }
  // Of whatever type the transport gives: MPI counts bytes only when the length is asked for.
  auto recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return this->transport_.recv(peer, buffer, capacity_bytes);
  }
  auto exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
    return exchange_messages(this->transport_, peer, out, bytes, in, capacity_bytes);
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

  void prepare_list(Rank first, Rank last, Buffer& buffer, std::size_t bytes)
    requires PreparesLists<T>
  {
    this->transport_.prepare_list(first, last, buffer, bytes);
  }
  void start_list()
    requires PreparesLists<T>
  {
    this->transport_.start_list();
  }
  void wait_list()
    requires PreparesLists<T>
  {
    this->transport_.wait_list();
  }
  void drop_list()
    requires PreparesLists<T>
  {
    this->transport_.drop_list();
  }
};

}  // namespace chiplog::views
