// What every transport offers to the patterns, and what it declares about itself.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace chiplog {

using Rank = int;

// Transports declare their capabilities, so that a pattern that needs more is refused before it starts.
struct Capabilities {
  bool two_sided = true;
  bool remote_write = false;
  bool remote_read = false;
  bool write_with_immediate = false;
  bool atomics = false;
  bool inline_send = false;
  bool list_posting = false;
  // A send above some size completes only after its receive has been posted (rendezvous).
  bool synchronises = false;
  // A receive can be posted, and waited for later (PostsReceives).
  bool posts_receives = false;
  // Ranks may live on different hosts.
  bool multiple_hosts = false;
  std::size_t max_message_bytes = 0;
  std::size_t max_inline_bytes = 0;
};

// A message buffer owned by its transport: `data()` points at the payload, `capacity()` is its room in bytes.
// A transport may keep headroom in front of the payload (a frame header) or a registration beside it.
template <class B>
concept MessageBuffer = std::movable<B> && requires(B buffer, const B constant) {
  { buffer.data() } -> std::same_as<std::byte*>;
  { constant.capacity() } -> std::convertible_to<std::size_t>;
};

// Two-sided messages between ranks. Between one pair of ranks, messages arrive in the order in which they were sent.
// All calls come from the rank's one thread. They spin or block; none may wait for ever: a lost peer ends in PeerLost
// or TimedOut. Nothing on the path of a message that goes well may allocate, lock, log or make a virtual call.
//
//   send       returns when the buffer may be used again; above the transport's eager limit only when the receive
//              has been matched.
//   post_send  hands the message over and returns at once where the transport can; the buffer may be used again
//              after wait_sends. At least `max_posted_sends` may be outstanding.
//   recv       waits for the next message of `source`; returns its length; Truncated if it exceeds `capacity_bytes`
//              (which is at most buffer.capacity()). The bytes after a shorter message, up to that capacity, are
//              undefined.
template <class T>
concept Messaging = requires(T transport, typename T::Buffer& buffer, Rank peer, std::size_t bytes) {
  requires MessageBuffer<typename T::Buffer>;
  { T::max_posted_sends } -> std::convertible_to<std::size_t>;
  { transport.make_buffer(bytes) } -> std::same_as<typename T::Buffer>;
  { transport.send(peer, buffer, bytes) } -> std::same_as<void>;
  { transport.post_send(peer, buffer, bytes) } -> std::same_as<void>;
  { transport.wait_sends() } -> std::same_as<void>;
  { transport.recv(peer, buffer, bytes) } -> std::convertible_to<std::size_t>;
};

// A message to `peer` and one from it at the same time; returns the length of what came. Neither waits for the other: a
// transport whose sends wait for room must receive meanwhile, or two ranks that both send would wait for each other.
// It returns when `out` may be used again and the message is in `in`. Transports offer it where `exchange_messages`
// can't do it, or where receives that are posted before the send do better (ability::Exchanges).
template <class T>
concept ExchangesMessages =
    Messaging<T> && requires(T transport, typename T::Buffer& buffer, Rank peer, std::size_t bytes) {
      { transport.exchange(peer, buffer, bytes, buffer, bytes) } -> std::convertible_to<std::size_t>;
    };

// The same for every transport. Returns the length in the type that the transport gives.
template <Messaging T>
auto exchange_messages(T& transport, Rank peer, typename T::Buffer& out, std::size_t bytes, typename T::Buffer& in,
                       std::size_t capacity_bytes) {
  if constexpr (ExchangesMessages<T>) {
    return transport.exchange(peer, out, bytes, in, capacity_bytes);
  } else {
    transport.post_send(peer, out, bytes);
    auto received = transport.recv(peer, in, capacity_bytes);
    transport.wait_sends();
    return received;
  }
}

// A receive that is posted and waited for later. One may be outstanding. `post_recv` returns at once; `wait_recv`
// returns the length of the message once it is in the buffer, with the errors of `recv`.
template <class T>
concept PostsReceives =
    Messaging<T> && requires(T transport, typename T::Buffer& buffer, Rank peer, std::size_t bytes) {
      { transport.post_recv(peer, buffer, bytes) } -> std::same_as<void>;
      { transport.wait_recv() } -> std::convertible_to<std::size_t>;
    };

// The description of a transport. `declared_capabilities()` is constexpr and says what it can do with the best device
// and options; `capabilities()` says what it can do here, which is never more.
template <class T>
concept Described = requires(T transport) {
  typename T::Abilities;
  { T::name } -> std::convertible_to<std::string_view>;
  { T::declared_capabilities() } -> std::same_as<Capabilities>;
  { transport.capabilities() } -> std::same_as<Capabilities>;
  { transport.options_json() } -> std::same_as<std::string>;  // options in force, as one JSON object
};

// What every transport must have; TransportContract says what it may have.
template <class T>
concept Transport = Messaging<T> && Described<T>;

}  // namespace chiplog
