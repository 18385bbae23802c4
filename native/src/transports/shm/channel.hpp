// The two ends of a channel. Each belongs to one thread of one process.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/cache_lines.hpp"
#include "core/failures.hpp"
#include "transports/shm/layout.hpp"
#include "transports/watch.hpp"

namespace chiplog::shm {

// Copies exactly `bytes`, which are at most 64, without a call into the library.
inline void copy_small(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto both_ends = [&]<std::size_t n>() {
    std::byte head[n];
    std::byte tail[n];
    std::memcpy(head, from, n);
    std::memcpy(tail, from + bytes - n, n);
    std::memcpy(to, head, n);
    std::memcpy(to + bytes - n, tail, n);
  };
  if (bytes < 2) {
    if (bytes == 1) *to = *from;
  } else if (bytes < 4) {
    both_ends.template operator()<2>();
  } else if (bytes < 8) {
    both_ends.template operator()<4>();
  } else if (bytes < 16) {
    both_ends.template operator()<8>();
  } else if (bytes <= 32) {
    both_ends.template operator()<16>();
  } else {
    both_ends.template operator()<32>();
  }
}

// Copies as memcpy does, but no access to the side that begins on a cache line goes over the end of a line: where both
// ends write and read such lines in turn, an access to two of them waits for both, and may lose the one while it waits
// for the other.
inline void copy_by_lines(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t whole = bytes / line_bytes * line_bytes;
  std::memcpy(to, from, whole);
  copy_small(to + whole, from + whole, bytes - whole);
}

// A place in the ring of bytes.
class RingView {
 public:
  RingView(Channel& channel, std::size_t ring_bytes) : ring_(channel.ring()), mask_(ring_bytes - 1) {}

  void copy_in(std::uint64_t position, const std::byte* from, std::size_t bytes) const {
    const std::size_t at = position & mask_;
    const std::size_t until_end = std::min(bytes, mask_ + 1 - at);
    copy_by_lines(ring_ + at, from, until_end);
    if (until_end < bytes) copy_by_lines(ring_, from + until_end, bytes - until_end);
  }
  void copy_out(std::byte* to, std::uint64_t position, std::size_t bytes) const {
    const std::size_t at = position & mask_;
    const std::size_t until_end = std::min(bytes, mask_ + 1 - at);
    copy_by_lines(to, ring_ + at, until_end);
    if (until_end < bytes) copy_by_lines(to + until_end, ring_, bytes - until_end);
  }
  void fetch_for_writing_at(std::uint64_t position, std::size_t bytes) const {
    for (std::size_t line = 0; line < bytes; line += line_bytes) fetch_for_writing(ring_ + ((position + line) & mask_));
  }

 private:
  std::byte* ring_;
  std::size_t mask_;
};

[[nodiscard]] constexpr std::uint64_t next_line(std::uint64_t position) {
  return (position + line_bytes - 1) / line_bytes * line_bytes;
}

class Sender {
 public:
  // `ring_bytes` is a power of two.
  Sender(Channel& channel, std::size_t ring_bytes, Rank peer, Watch& watch)
      : channel_(&channel),
        watch_(&watch),
        ring_(channel, ring_bytes),
        ring_bytes_(ring_bytes),
        chunk_bytes_(chunk_bytes_of(ring_bytes)),
        peer_(peer) {}

  // Asks for the line of the next message, which the other side has looked at, so that it is here when it is written.
  void prepare() const { fetch_for_writing(&channel_->slots[sent_ % slot_count]); }

  // Returns when the message is in the channel; waits for room if there is none.
  void send(const std::byte* from, std::size_t bytes) {
    if (sent_ - slots_read_ == slot_count) [[unlikely]] {
      wait_for_slot();
    }
    if (bytes <= inline_bytes) [[likely]] {
      Slot& slot = channel_->slots[sent_ % slot_count];
      copy_small(slot.payload, from, bytes);
      slot.announcement.store(announce(sent_, bytes), std::memory_order_release);
      ++sent_;
    } else {
      send_through_ring(from, bytes);
    }
  }

  // Puts the next part of a message of more than `inline_bytes` into the ring, if there is room for it now; `done`
  // bytes of it are there already. Returns how many are there then.
  std::size_t send_more(const std::byte* from, std::size_t bytes, std::size_t done) {
    const std::size_t chunk = std::min(bytes - done, chunk_bytes_);
    if (!has_room(chunk) || (done == 0 && !has_slot())) {
      throw_if_given_up();
      return done;
    }
    put_chunk(from, bytes, done, chunk);
    return done + chunk;
  }

  // Announces a message of `bytes` that stays where it is. `directions`, of at most `inline_bytes`, tell the receiver
  // how to fetch it; `wait_until_fetched` waits for that.
  template <class Directions>
  void announce_to_fetch(const Directions& directions, std::size_t bytes) {
    static_assert(sizeof directions <= inline_bytes && std::is_trivially_copyable_v<Directions>);
    if (sent_ - slots_read_ == slot_count) [[unlikely]] {
      wait_for_slot();
    }
    Slot& slot = channel_->slots[sent_ % slot_count];
    std::memcpy(slot.payload, &directions, sizeof directions);
    slot.announcement.store(announce(sent_, bytes | stays_with_sender), std::memory_order_release);
    ++sent_;
    ++to_fetch_;
  }
  // Waits until the receiver has fetched all messages that were announced so.
  void wait_until_fetched() {
    watch_->wait(peer_,
                 [&] { return channel_->fetched.load(std::memory_order_acquire) == to_fetch_ || has_given_up(); });
    if (channel_->fetched.load(std::memory_order_acquire) != to_fetch_) throw_takes_no_more(peer_);
  }

 private:
  [[gnu::noinline]] void send_through_ring(const std::byte* from, std::size_t bytes) {
    std::size_t chunk = 0;
    for (std::size_t done = 0; done < bytes; done += chunk) {
      chunk = std::min(bytes - done, chunk_bytes_);
      wait_for_room(chunk);
      put_chunk(from, bytes, done, chunk);
    }
  }

  // The sender announces the message with its first chunk. `ring_written` tells the receiver of the other chunks.
  void put_chunk(const std::byte* from, std::size_t bytes, std::size_t done, std::size_t chunk) {
    ring_.copy_in(written_, from + done, chunk);
    written_ += chunk;
    if (done == 0) {
      channel_->slots[sent_ % slot_count].announcement.store(announce(sent_, bytes), std::memory_order_release);
      ++sent_;
    } else {
      channel_->ring_written.store(written_, std::memory_order_release);
    }
    if (done + chunk < bytes) return;
    written_ = next_line(written_);
    ring_.fetch_for_writing_at(written_, std::min(bytes, fetched_ahead_bytes));
  }

  // These look at what the receiver has read only where what they saw last is not enough.
  [[nodiscard]] bool has_room(std::size_t bytes) {
    if (written_ + bytes - ring_read_ <= ring_bytes_) return true;
    ring_read_ = channel_->ring_read.load(std::memory_order_acquire);
    return written_ + bytes - ring_read_ <= ring_bytes_;
  }
  [[nodiscard]] bool has_slot() {
    if (sent_ - slots_read_ < slot_count) return true;
    slots_read_ = channel_->slots_read.load(std::memory_order_acquire);
    return sent_ - slots_read_ < slot_count;
  }

  void wait_for_room(std::size_t bytes) {
    if (written_ + bytes - ring_read_ <= ring_bytes_) return;
    watch_->wait(peer_, [&] { return has_room(bytes) || has_given_up(); });
    throw_if_given_up();
  }

  [[gnu::noinline]] void wait_for_slot() {
    watch_->wait(peer_, [&] { return has_slot() || has_given_up(); });
    throw_if_given_up();
  }

  [[nodiscard]] bool has_given_up() const { return channel_->given_up.load(std::memory_order_relaxed) != 0; }
  void throw_if_given_up() const {
    if (has_given_up()) throw_takes_no_more(peer_);
  }

  // More would push each other out of the few places for lines that are on their way.
  static constexpr std::size_t fetched_ahead_bytes = 1024;

  Channel* channel_;
  Watch* watch_;
  RingView ring_;
  std::size_t ring_bytes_;
  std::size_t chunk_bytes_;
  std::uint64_t sent_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t to_fetch_ = 0;
  // This is what the sender saw last; the receiver may be further.
  std::uint64_t slots_read_ = 0;
  std::uint64_t ring_read_ = 0;
  Rank peer_;
};

// A message that is received part by part.
struct IncomingMessage {
  std::byte* to = nullptr;
  std::size_t capacity_bytes = 0;
  std::size_t bytes = 0;
  std::size_t done_bytes = 0;
  bool has_begun = false;
  bool is_whole = false;
};

class Receiver {
 public:
  Receiver(Channel& channel, std::size_t ring_bytes, Rank peer, Watch& watch)
      : channel_(&channel),
        watch_(&watch),
        ring_(channel, ring_bytes),
        ring_bytes_(ring_bytes),
        chunk_bytes_(chunk_bytes_of(ring_bytes)),
        peer_(peer) {}

  // The message's length. A reply through `back` may follow: it is prepared while the message is copied. After
  // Truncated this channel is closed at both ends.
  std::size_t recv(std::byte* to, std::size_t capacity_bytes, const Sender& back) {
    return recv(to, capacity_bytes, back, NothingToFetch{});
  }
  // The same where messages may stay with their sender: fetch(directions, to, bytes) copies one of them.
  template <class Fetch>
  std::size_t recv(std::byte* to, std::size_t capacity_bytes, const Sender& back, Fetch fetch) {
    const Slot& slot = channel_->slots[received_ % slot_count];
    const std::uint64_t announcement = await_announcement(slot);
    const auto bytes = static_cast<std::size_t>(announcement & length_mask);
    if (bytes > capacity_bytes) [[unlikely]] {
      return fetch_or_give_up(slot, to, bytes, capacity_bytes, fetch);
    }
    if (bytes <= inline_bytes) [[likely]] {
      back.prepare();
      copy_small(to, slot.payload, bytes);
    } else {
      receive_through_ring(to, bytes);
    }
    take_slot();
    return bytes;
  }

  // Takes the next part of a message if it is there now. Returns whether there was any.
  template <class Fetch>
  bool receive_more(IncomingMessage& message, Fetch fetch) {
    if (!message.has_begun) return begin(message, fetch);
    const std::size_t chunk = std::min(message.bytes - message.done_bytes, chunk_bytes_);
    if (channel_->ring_written.load(std::memory_order_acquire) < read_ + chunk) return false;
    take_chunk(message, chunk);
    return true;
  }

  struct NothingToFetch {};

 private:
  // A message longer than there is room for, or one that stays with its sender.
  template <class Fetch>
  std::size_t fetch_or_give_up(const Slot& slot, std::byte* to, std::size_t bytes, std::size_t capacity_bytes,
                               Fetch fetch) {
    if constexpr (!std::is_same_v<Fetch, NothingToFetch>) {
      if ((bytes & stays_with_sender) != 0) {
        return fetch_message(slot, to, bytes & ~stays_with_sender, capacity_bytes, fetch);
      }
    }
    give_up(bytes, capacity_bytes);
  }

  template <class Fetch>
  bool begin(IncomingMessage& message, Fetch fetch) {
    const Slot& slot = channel_->slots[received_ % slot_count];
    const std::uint64_t announcement = slot.announcement.load(std::memory_order_acquire);
    if ((announcement ^ announce(received_, 0)) > length_mask) return false;
    message.has_begun = true;
    message.bytes = static_cast<std::size_t>(announcement & length_mask);
    if (message.bytes > message.capacity_bytes) {
      message.bytes = fetch_or_give_up(slot, message.to, message.bytes, message.capacity_bytes, fetch);
      message.is_whole = true;
    } else if (message.bytes <= inline_bytes) {
      copy_small(message.to, slot.payload, message.bytes);
      take_slot();
      message.is_whole = true;
    } else {
      take_chunk(message, std::min(message.bytes, chunk_bytes_));
    }
    return true;
  }

  void take_chunk(IncomingMessage& message, std::size_t chunk) {
    ring_.copy_out(message.to + message.done_bytes, read_, chunk);
    read_ += chunk;
    message.done_bytes += chunk;
    message.is_whole = message.done_bytes == message.bytes;
    if (message.is_whole) {
      read_ = next_line(read_);
      take_slot();
    }
    report_ring();
  }

  void take_slot() {
    if (++received_ % slots_between_reports == 0) channel_->slots_read.store(received_, std::memory_order_release);
  }

  template <class Fetch>
  [[gnu::noinline]] std::size_t fetch_message(const Slot& slot, std::byte* to, std::size_t bytes,
                                              std::size_t capacity_bytes, Fetch fetch) {
    if (bytes > capacity_bytes) give_up(bytes, capacity_bytes);
    fetch(static_cast<const std::byte*>(slot.payload), to, bytes);
    take_slot();
    channel_->fetched.store(++fetched_, std::memory_order_release);
    return bytes;
  }

  // The receiver writes its count rarely, because each write takes the line out of the sender's cache.
  static constexpr std::uint64_t slots_between_reports = slot_count / 8;

  std::uint64_t await_announcement(const Slot& slot) {
    const std::uint64_t lap = announce(received_, 0);
    for (std::uint32_t look = watch_->awaited_reads(); look > 0; --look) {
      const std::uint64_t announcement = slot.announcement.load(std::memory_order_acquire);
      // No length reaches into the lap's bits.
      if ((announcement ^ lap) <= length_mask) return announcement;
      await_reads();
    }
    return await_late_announcement(slot, lap);
  }

  [[gnu::noinline]] std::uint64_t await_late_announcement(const Slot& slot, std::uint64_t lap) {
    std::uint64_t announcement = 0;
    watch_->wait(peer_, [&] {
      announcement = slot.announcement.load(std::memory_order_acquire);
      return (announcement ^ lap) <= length_mask;
    });
    return announcement;
  }

  [[gnu::noinline]] void receive_through_ring(std::byte* to, std::size_t bytes) {
    std::size_t chunk = std::min(bytes, chunk_bytes_);
    ring_.copy_out(to, read_, chunk);
    read_ += chunk;
    for (std::size_t done = chunk; done < bytes; done += chunk) {
      report_ring();
      chunk = std::min(bytes - done, chunk_bytes_);
      const std::uint64_t end = read_ + chunk;
      watch_->wait(peer_, [&] { return channel_->ring_written.load(std::memory_order_acquire) >= end; });
      ring_.copy_out(to + done, read_, chunk);
      read_ = end;
    }
    read_ = next_line(read_);
    report_ring();
  }

  // A sender that waits needs room for a chunk, which is at most an eighth of the ring.
  void report_ring() {
    if (read_ - reported_ < ring_bytes_ / 8) return;
    channel_->ring_read.store(read_, std::memory_order_release);
    reported_ = read_;
  }

  [[noreturn, gnu::noinline]] void give_up(std::size_t bytes, std::size_t capacity_bytes) {
    // The slot stays unread: a later receive meets the same message and ends the same way.
    channel_->given_up.store(1, std::memory_order_relaxed);
    throw_truncated(peer_, bytes, capacity_bytes);
  }

  Channel* channel_;
  Watch* watch_;
  RingView ring_;
  std::size_t ring_bytes_;
  std::size_t chunk_bytes_;
  std::uint64_t received_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t reported_ = 0;
  std::uint64_t fetched_ = 0;
  Rank peer_;
};

}  // namespace chiplog::shm
