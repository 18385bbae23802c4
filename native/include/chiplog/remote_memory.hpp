// One-sided operations on the memory of a peer (RDMA), which a transport may offer beside its messages.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "chiplog/transport.hpp"

namespace chiplog {

// Memory of this rank that all peers may reach, registered where the network needs that. Zeroed when it is made. It
// goes before its transport does.
template <class W>
concept MemoryWindow = std::movable<W> && requires(W window, const W constant) {
  { window.data() } -> std::same_as<std::byte*>;
  { constant.capacity() } -> std::convertible_to<std::size_t>;
};

// Writes into a peer's window. All ranks make a window together, of the same size; what is exchanged for it (keys,
// addresses) stays inside the transport.
//
//   post_write       copies bytes of `buffer`, from `buffer_offset` on, to `window_offset` in the window of `peer`, and
//                    returns at once where the transport can. Those to one peer land in the order in which they were
//                    posted. Where a device writes, the last byte of each lands last; where a processor copies, others
//                    may show a moment after it. The bytes may be used again after wait_operations.
//   wait_operations  until all that this rank has posted is complete here: sources may be used again, what was read or
//                    fetched has arrived. It says nothing of when a write has landed: libraries differ in that, and
//                    some claim more than they keep.
//   progress         lets the library work. The target of an operation calls it while it waits for its memory to
//   change.
//
// At least `max_posted_operations` may be outstanding. A key that is wrong or a range outside the window ends in Error,
// never in waiting: at the latest from wait_operations.
template <class T>
concept WritesRemotely = Transport<T> && requires(T transport, typename T::Buffer& buffer, typename T::Window& window,
                                                  Rank peer, std::size_t at, std::size_t bytes) {
  requires MemoryWindow<typename T::Window>;
  { T::max_posted_operations } -> std::convertible_to<std::size_t>;
  { transport.make_window(bytes) } -> std::same_as<typename T::Window>;
  { transport.post_write(peer, buffer, at, bytes, window, at) } -> std::same_as<void>;
  { transport.wait_operations() } -> std::same_as<void>;
  { transport.progress() } -> std::same_as<void>;
};

// A write that also tells the target: `wait_immediate` waits for the next one of `peer`, whose bytes have then landed.
template <class T>
concept WritesWithImmediate =
    WritesRemotely<T> && requires(T transport, typename T::Buffer& buffer, typename T::Window& window, Rank peer,
                                  std::size_t at, std::size_t bytes) {
      { transport.post_write_immediate(peer, buffer, at, bytes, window, at) } -> std::same_as<void>;
      { transport.wait_immediate(peer) } -> std::same_as<void>;
    };

// From the window of `peer`, at `window_offset`, into `buffer`, at `buffer_offset`.
template <class T>
concept ReadsRemotely =
    WritesRemotely<T> && requires(T transport, typename T::Buffer& buffer, typename T::Window& window, Rank peer,
                                  std::size_t at, std::size_t bytes) {
      { transport.post_read(peer, buffer, at, bytes, window, at) } -> std::same_as<void>;
    };

// On 8 bytes of a peer's window, aligned to 8. The value that was there lands in `buffer` at `buffer_offset`.
// post_fetch_add(peer, buffer, buffer_offset, window, window_offset, addend) and
// post_compare_swap(peer, buffer, buffer_offset, window, window_offset, expected, desired).
template <class T>
concept AtomicOperations =
    WritesRemotely<T> && requires(T transport, typename T::Buffer& buffer, typename T::Window& window, Rank peer,
                                  std::size_t at, std::uint64_t value) {
      { transport.post_fetch_add(peer, buffer, at, window, at, value) } -> std::same_as<void>;
      { transport.post_compare_swap(peer, buffer, at, window, at, value, value) } -> std::same_as<void>;
    };

// The payload goes with the request, so that its bytes may be used again at once (IBV_SEND_INLINE, fi_inject). Each
// form has the arguments of the one that it is a variant of, for up to `max_inline_bytes()`.
template <class T>
concept SendsInline = Transport<T> && requires(T transport, typename T::Buffer& buffer, Rank peer, std::size_t bytes) {
  { transport.max_inline_bytes() } -> std::convertible_to<std::size_t>;
  { transport.post_send_inline(peer, buffer, bytes) } -> std::same_as<void>;
};
template <class T>
concept WritesInline = WritesRemotely<T> && SendsInline<T> &&
                       requires(T transport, typename T::Buffer& buffer, typename T::Window& window, Rank peer,
                                std::size_t at, std::size_t bytes) {
                         { transport.post_write_inline(peer, buffer, at, bytes, window, at) } -> std::same_as<void>;
                       };
template <class T>
concept WritesImmediateInline = WritesWithImmediate<T> && WritesInline<T> &&
                                requires(T transport, typename T::Buffer& buffer, typename T::Window& window, Rank peer,
                                         std::size_t at, std::size_t bytes) {
                                  {
                                    transport.post_write_immediate_inline(peer, buffer, at, bytes, window, at)
                                  } -> std::same_as<void>;
                                };

// What is posted between begin_list and end_list is handed over together by end_list at the latest (linked work
// requests, FI_MORE). Only posts, no waiting, may stand between them; up to max_posted_sends.
template <class T>
concept CollectsPosts = Transport<T> && requires(T transport) {
  { transport.begin_list() } -> std::same_as<void>;
  { transport.end_list() } -> std::same_as<void>;
};

}  // namespace chiplog
