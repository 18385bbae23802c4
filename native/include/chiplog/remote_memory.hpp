// One-sided operations on the memory of a peer (RDMA), which a transport may offer beside its messages.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "chiplog/transport.hpp"

namespace chiplog {

// Memory of this rank that all peers may access, registered if the network needs that. It is zeroed when it is made,
// and must be destroyed before its transport.
template <class W>
concept MemoryWindow = std::movable<W> && requires(W window, const W constant) {
  { window.data() } -> std::same_as<std::byte*>;
  { constant.capacity() } -> std::convertible_to<std::size_t>;
};

// A transfer between a buffer of this rank and the window of a peer; the operation gives the direction.
template <class Buffer, class Window>
struct Transfer {
  Rank peer;
  Buffer& buffer;
  std::size_t buffer_offset = 0;
  std::size_t bytes;
  Window& window;
  std::size_t window_offset = 0;
};

// The same for an atomic operation, which always works on 8 bytes; `window_offset` is a multiple of 8.
template <class Buffer, class Window>
struct WordTransfer {
  Rank peer;
  Buffer& buffer;
  std::size_t buffer_offset = 0;
  Window& window;
  std::size_t window_offset = 0;
};

template <class T>
using TransferOf = Transfer<typename T::Buffer, typename T::Window>;
template <class T>
using WordTransferOf = WordTransfer<typename T::Buffer, typename T::Window>;

// Writes into a peer's window. All ranks make a window together, of the same size; what is exchanged for it (keys,
// addresses) stays inside the transport.
//
//   post_write       copies the bytes from the buffer to the window, and returns at once where the transport can. Those
//                    to one peer land in the order in which they were posted. Where a device writes, the last byte of
//                    each lands last; where a processor copies, others may show a moment after it. The bytes may be
//                    used again after wait_operations.
//   wait_operations  until all that this rank has posted is complete here: sources may be used again, what was read or
//                    fetched has arrived. It says nothing of when a write has landed: libraries differ in that, and
//                    some claim more than they keep.
//   progress         lets the library work.
//   wait_until       until ready(), which looks at this rank's window for what `peer` writes there; the library works
//                    meanwhile. The loss of the peer and the time limit end the wait.
//
// At least `max_posted_operations` may be outstanding. A key that is wrong or a range outside the window ends in Error,
// never in waiting: at the latest from wait_operations.
template <class T>
concept WritesRemotely =
    Messaging<T> && requires(T transport, const TransferOf<T>& transfer, std::size_t bytes, bool (*ready)()) {
      requires MemoryWindow<typename T::Window>;
      { T::max_posted_operations } -> std::convertible_to<std::size_t>;
      { transport.make_window(bytes) } -> std::same_as<typename T::Window>;
      { transport.post_write(transfer) } -> std::same_as<void>;
      { transport.wait_operations() } -> std::same_as<void>;
      { transport.progress() } -> std::same_as<void>;
      { transport.wait_until(transfer.peer, ready) } -> std::same_as<void>;
    };

// A write that also tells the target: `wait_immediate` waits for the next one of `peer`, whose bytes have then landed.
template <class T>
concept WritesWithImmediate = WritesRemotely<T> && requires(T transport, const TransferOf<T>& transfer, Rank peer) {
  { transport.post_write_immediate(transfer) } -> std::same_as<void>;
  { transport.wait_immediate(peer) } -> std::same_as<void>;
};

// From the window into the buffer.
template <class T>
concept ReadsRemotely = WritesRemotely<T> && requires(T transport, const TransferOf<T>& transfer) {
  { transport.post_read(transfer) } -> std::same_as<void>;
};

// Operations on 8 bytes of a peer's window. The old value is stored in the buffer: post_fetch_add(word, addend) and
// post_compare_swap(word, expected, desired).
template <class T>
concept AtomicOperations =
    WritesRemotely<T> && requires(T transport, const WordTransferOf<T>& word, std::uint64_t value) {
      { transport.post_fetch_add(word, value) } -> std::same_as<void>;
      { transport.post_compare_swap(word, value, value) } -> std::same_as<void>;
    };

// The payload goes with the request, so that its bytes may be used again at once (IBV_SEND_INLINE, fi_inject). Each
// form has the arguments of the one that it is a variant of, for up to `max_inline_bytes()`.
template <class T>
concept SendsInline = Messaging<T> && requires(T transport, typename T::Buffer& buffer, Rank peer, std::size_t bytes) {
  { transport.max_inline_bytes() } -> std::convertible_to<std::size_t>;
  { transport.post_send_inline(peer, buffer, bytes) } -> std::same_as<void>;
};
template <class T>
concept WritesInline = WritesRemotely<T> && SendsInline<T> && requires(T transport, const TransferOf<T>& transfer) {
  { transport.post_write_inline(transfer) } -> std::same_as<void>;
};
template <class T>
concept WritesImmediateInline =
    WritesWithImmediate<T> && WritesInline<T> && requires(T transport, const TransferOf<T>& transfer) {
      { transport.post_write_immediate_inline(transfer) } -> std::same_as<void>;
    };

// Everything posted between begin_list and end_list is handed over together, by end_list at the latest (linked work
// requests, FI_MORE). Only posts, no waiting, may stand between them; up to max_posted_sends.
template <class T>
concept CollectsPosts = Messaging<T> && requires(T transport) {
  { transport.begin_list() } -> std::same_as<void>;
  { transport.end_list() } -> std::same_as<void>;
};

// Sends to several ranks, handed over by one call. `prepare_list` makes one send to each of the ranks `first` to
// `last`, `start_list` posts them all, `wait_list` waits until the buffer may be used again and `drop_list` forgets
// them.
template <class T>
concept PreparesLists =
    Messaging<T> && requires(T transport, typename T::Buffer& buffer, Rank rank, std::size_t bytes) {
      { transport.prepare_list(rank, rank, buffer, bytes) } -> std::same_as<void>;
      { transport.start_list() } -> std::same_as<void>;
      { transport.wait_list() } -> std::same_as<void>;
      { transport.drop_list() } -> std::same_as<void>;
    };

template <class T>
concept PostsLists = PreparesLists<T> || CollectsPosts<T>;

}  // namespace chiplog
