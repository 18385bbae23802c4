// What every transport with one-sided operations must do, as functions that all ranks run side by side; those of two
// ranks leave the others idle. A case returns, or throws what it found wrong. Each asks only for what it uses, so a
// transport joins those that its operations allow.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <vector>

#include "cases.hpp"
#include "chiplog/abilities.hpp"
#include "chiplog/remote_memory.hpp"
#include "patterns/await_payload.hpp"

namespace chiplog::conformance {

inline constexpr std::byte guard{0xa5};

// Whether a byte that somebody else may write at any time has this value.
inline bool shows(const std::byte* at, std::byte value) {
  auto& byte = const_cast<std::byte&>(*at);  // atomic_ref refers to no const objects before C++26
  return std::atomic_ref(byte).load(std::memory_order_acquire) == value;
}

// Lets the transport work until `there()`, which `writer` brings about. Simulated time passes only for who waits.
template <WritesRemotely T, class There>
void await(T& transport, [[maybe_unused]] Rank writer, const std::string& what, There there) {
  if constexpr (offers<T, ability::Settles>) {
    transport.wait_until(writer, there);
  } else {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!there()) {
      transport.progress();
      require(std::chrono::steady_clock::now() < deadline, what + " has not come");
    }
  }
}

// All ranks wait for each other.
template <Transport T>
void meet(T& transport, Rank rank, int ranks) {
  auto buffer = transport.make_buffer(1);
  if (rank != 0) {
    transport.send(0, buffer, 1);
    transport.recv(0, buffer, 1);
    return;
  }
  for (Rank peer = 1; peer < ranks; ++peer) transport.recv(peer, buffer, 1);
  for (Rank peer = 1; peer < ranks; ++peer) transport.send(peer, buffer, 1);
}

template <MemoryWindow W>
void fill_with_guard(W& window) {
  std::fill_n(window.data(), window.capacity(), guard);
}

// The first salt from `salt` on whose last byte is no guard, so that its landing shows.
inline std::uint64_t visible_salt(std::size_t bytes, std::uint64_t salt) {
  std::vector<std::byte> payload(bytes);
  for (;; ++salt) {
    fill_payload(payload, salt);
    if (payload.back() != guard && payload.back() != std::byte{}) return salt;
  }
}

inline void expect_payload(const std::byte* at, std::size_t bytes, std::uint64_t salt, const std::string& what) {
  const auto mismatch = find_mismatch({at, bytes}, salt);
  require(!mismatch, what + ": " + mismatch.value_or(""));
}

// Of what only the last byte has been seen of.
template <WritesRemotely T>
void expect_payload_soon(T& transport, const std::byte* at, std::size_t bytes, std::uint64_t salt,
                         const std::string& what) {
  const auto mismatch = await_payload(transport, {at, bytes}, salt);
  require(!mismatch, what + ": " + mismatch.value_or(""));
}

inline void expect_guard(const std::byte* from, const std::byte* to, const std::string& where) {
  require(std::all_of(from, to, [](std::byte byte) { return byte == guard; }), "bytes " + where + " were changed");
}

template <WritesRemotely T>
void a_window_begins_as_zeros(T& transport, Rank /*rank*/, int /*ranks*/) {
  auto window = transport.make_window(10'000);
  require(window.capacity() >= 10'000, "the window is smaller than was asked for");
  require(std::all_of(window.data(), window.data() + 10'000, [](std::byte byte) { return byte == std::byte{}; }),
          "the window holds something");
}

inline constexpr std::size_t written_sizes[] = {1, 2, 7, 8, 9, 63, 64, 65, 200, 4095, 4096, 4097, 70'001, 1'000'000};

// Rank 0 writes with `post` at odd places; rank 1 sees it land where it was meant to be, and not a second time.
template <WritesRemotely T, class Post>
void writes_land_exactly_once(T& transport, Rank rank, int ranks, std::size_t largest, Post post) {
  constexpr std::size_t room = 1'100'000;
  constexpr std::size_t place = 1003;
  auto window = transport.make_window(room);
  auto buffer = transport.make_buffer(room);
  fill_with_guard(window);
  for (const std::size_t bytes : written_sizes) {
    if (bytes > largest) break;
    const std::uint64_t salt = visible_salt(bytes, bytes);
    const std::string what = "a write of " + std::to_string(bytes) + " bytes";
    meet(transport, rank, ranks);
    if (rank == 0) {
      fill_payload({buffer.data() + 5, bytes}, salt);
      post({.peer = 1, .buffer = buffer, .buffer_offset = 5, .bytes = bytes, .window = window, .window_offset = place});
      transport.wait_operations();
    }
    std::byte* const landing = window.data() + place;
    if (rank == 1) {
      await(transport, 0, what, [&] { return !shows(landing + bytes - 1, guard); });
      expect_payload_soon(transport, landing, bytes, salt, what);
      std::fill_n(landing, bytes, guard);
    }
    meet(transport, rank, ranks);
    if (rank != 0) expect_guard(window.data(), window.data() + room, "outside of " + what + " or after it");
  }
}

template <WritesRemotely T>
void a_write_lands_exactly_once_and_where_it_was_meant_to_be(T& transport, Rank rank, int ranks) {
  writes_land_exactly_once(transport, rank, ranks, 1'000'000,
                           [&](const TransferOf<T>& transfer) { transport.post_write(transfer); });
}

template <WritesInline T>
void an_inline_write_lands_exactly_once_and_where_it_was_meant_to_be(T& transport, Rank rank, int ranks) {
  const auto post = [&](const TransferOf<T>& transfer) {
    transport.post_write_inline(transfer);
    // At once: the payload went with the request.
    std::fill_n(transfer.buffer.data() + transfer.buffer_offset, transfer.bytes, guard);
  };
  writes_land_exactly_once(transport, rank, ranks, transport.max_inline_bytes(), post);
}

// A train of writes of `bytes` each: when the last byte of the last shows, all that came before is there.
template <WritesRemotely T>
void writes_land_in_order(T& transport, Rank rank, int ranks, std::size_t bytes) {
  constexpr std::size_t train = 50;
  auto window = transport.make_window(train * bytes);
  auto buffer = transport.make_buffer(train * bytes);
  for (std::uint64_t repetition = 0; repetition < 10; ++repetition) {
    const auto salt = [&](std::size_t i) { return visible_salt(bytes, 1000 * (i + train * repetition)); };
    fill_with_guard(window);
    meet(transport, rank, ranks);
    if (rank == 0) {
      for (std::size_t i = 0; i < train; ++i) fill_payload({buffer.data() + i * bytes, bytes}, salt(i));
      for (std::size_t i = 0; i < train; ++i)
        transport.post_write({.peer = 1,
                              .buffer = buffer,
                              .buffer_offset = i * bytes,
                              .bytes = bytes,
                              .window = window,
                              .window_offset = i * bytes});
      transport.wait_operations();
    }
    if (rank == 1) {
      const std::byte* last = window.data() + train * bytes - 1;
      await(transport, 0, "the last write", [&] { return !shows(last, guard); });
      expect_payload_soon(transport, last + 1 - bytes, bytes, salt(train - 1), "the last write");
      for (std::size_t i = train - 1; i-- > 0;) {
        expect_payload(window.data() + i * bytes, bytes, salt(i), "write " + std::to_string(i));
      }
    }
    meet(transport, rank, ranks);
  }
}

template <WritesRemotely T>
void small_writes_land_in_order(T& transport, Rank rank, int ranks) {
  writes_land_in_order(transport, rank, ranks, 8);
}
template <WritesRemotely T>
void large_writes_land_in_order(T& transport, Rank rank, int ranks) {
  writes_land_in_order(transport, rank, ranks, 20'000);
}

template <WritesRemotely T>
void a_source_may_be_used_again_after_waiting(T& transport, Rank rank, int ranks) {
  constexpr std::size_t sizes[] = {1, 64, 5000, 300'000};
  auto window = transport.make_window(600'000);
  auto buffer = transport.make_buffer(300'000);
  for (const std::size_t bytes : sizes) {
    const std::uint64_t first = visible_salt(bytes, 1);
    const std::uint64_t second = visible_salt(bytes, first + 1);
    fill_with_guard(window);
    meet(transport, rank, ranks);
    if (rank == 0) {
      for (const std::uint64_t salt : {first, second}) {
        fill_payload({buffer.data(), bytes}, salt);
        transport.post_write({.peer = 1,
                              .buffer = buffer,
                              .bytes = bytes,
                              .window = window,
                              .window_offset = salt == first ? 0 : bytes});
        transport.wait_operations();
      }
      fill_payload({buffer.data(), bytes}, 99);
    }
    if (rank == 1) {
      await(transport, 0, "the second write", [&] { return !shows(window.data() + 2 * bytes - 1, guard); });
      expect_payload(window.data(), bytes, first, "the first write");
      expect_payload_soon(transport, window.data() + bytes, bytes, second, "the second write");
    }
    meet(transport, rank, ranks);
  }
}

template <WritesRemotely T>
void as_many_operations_as_declared_may_be_posted(T& transport, Rank rank, int ranks) {
  constexpr std::size_t count = T::max_posted_operations;
  static_assert(count >= 64);
  auto window = transport.make_window(8 * count);
  auto buffer = transport.make_buffer(8 * count);
  const std::uint64_t salt = visible_salt(8 * count, 5);
  for (int repetition = 0; repetition < 2; ++repetition) {
    fill_with_guard(window);
    meet(transport, rank, ranks);
    if (rank == 0) {
      fill_payload({buffer.data(), 8 * count}, salt);
      for (std::size_t i = 0; i < count; ++i)
        transport.post_write({.peer = 1,
                              .buffer = buffer,
                              .buffer_offset = 8 * i,
                              .bytes = 8,
                              .window = window,
                              .window_offset = 8 * i});
      transport.wait_operations();
    }
    if (rank == 1) {
      await(transport, 0, "the last write", [&] { return !shows(window.data() + 8 * count - 1, guard); });
      expect_payload_soon(transport, window.data(), 8 * count, salt, "the writes");
    }
    meet(transport, rank, ranks);
  }
}

// All ranks but 0 write to rank 0, each into a part of its own.
template <WritesRemotely T>
void writes_of_several_ranks_keep_apart(T& transport, Rank rank, int ranks) {
  constexpr std::size_t part = 3000;
  auto window = transport.make_window(part * static_cast<std::size_t>(ranks));
  auto buffer = transport.make_buffer(part);
  const auto salt = [](Rank from) { return visible_salt(part, 100 * static_cast<std::uint64_t>(from)); };
  fill_with_guard(window);
  meet(transport, rank, ranks);
  if (rank != 0) {
    fill_payload({buffer.data(), part}, salt(rank));
    transport.post_write({.peer = 0,
                          .buffer = buffer,
                          .bytes = part,
                          .window = window,
                          .window_offset = part * static_cast<std::size_t>(rank)});
    transport.wait_operations();
  } else {
    for (Rank peer = 1; peer < ranks; ++peer) {
      const std::byte* const begin = window.data() + part * static_cast<std::size_t>(peer);
      const std::string what = "the write of rank " + std::to_string(peer);
      await(transport, peer, what, [&] { return !shows(begin + part - 1, guard); });
      expect_payload_soon(transport, begin, part, salt(peer), what);
    }
    expect_guard(window.data(), window.data() + part, "that nobody wrote to");
  }
  meet(transport, rank, ranks);
}

template <ReadsRemotely T>
void a_read_returns_what_was_written(T& transport, Rank rank, int ranks) {
  constexpr std::size_t room = 1'100'000;
  constexpr std::size_t place = 1003;
  auto window = transport.make_window(room);
  auto buffer = transport.make_buffer(room);
  for (const std::size_t bytes : written_sizes) {
    fill_with_guard(window);
    if (rank == 1) fill_payload({window.data() + place, bytes}, bytes);
    meet(transport, rank, ranks);
    if (rank == 0) {
      std::fill_n(buffer.data(), room, guard);
      transport.post_read(
          {.peer = 1, .buffer = buffer, .buffer_offset = 7, .bytes = bytes, .window = window, .window_offset = place});
      transport.wait_operations();
      const std::string what = "a read of " + std::to_string(bytes) + " bytes";
      expect_payload(buffer.data() + 7, bytes, bytes, what);
      expect_guard(buffer.data(), buffer.data() + 7, "in front of " + what);
      expect_guard(buffer.data() + 7 + bytes, buffer.data() + room, "behind " + what);
    }
    meet(transport, rank, ranks);
  }
}

inline std::uint64_t number_at(const std::byte* at) {
  std::uint64_t number = 0;
  std::memcpy(&number, at, sizeof number);
  return number;
}

// Each fetched value is seen by exactly one rank: no addition is lost or doubled.
template <AtomicOperations T>
void fetch_add_is_atomic_under_several_ranks(T& transport, Rank rank, int ranks) {
  constexpr std::size_t each = 250;
  constexpr std::size_t place = 64;
  const std::size_t all = each * static_cast<std::size_t>(ranks - 1);
  auto window = transport.make_window(256);
  auto fetched = transport.make_buffer(8 * each);
  meet(transport, rank, ranks);
  if (rank != 0) {
    for (std::size_t i = 0; i < each; ++i) {
      transport.post_fetch_add(
          {.peer = 0, .buffer = fetched, .buffer_offset = 8 * i, .window = window, .window_offset = place}, 1);
      if (i % 5 == 4) transport.wait_operations();
    }
    transport.send(0, fetched, 8 * each);
  } else {
    std::set<std::uint64_t> seen;
    for (Rank peer = 1; peer < ranks; ++peer) {
      transport.recv(peer, fetched, 8 * each);
      for (std::size_t i = 0; i < each; ++i) seen.insert(number_at(fetched.data() + 8 * i));
    }
    require(seen.size() == all && *seen.begin() == 0 && *seen.rbegin() == all - 1,
            std::to_string(seen.size()) + " different values were fetched, not " + std::to_string(all));
    const std::uint64_t total = number_at(window.data() + place);
    require(total == all, "the sum is " + std::to_string(total) + ", not " + std::to_string(all));
    require(number_at(window.data() + place - 8) == 0 && number_at(window.data() + place + 8) == 0,
            "numbers beside the one that was added to were changed");
  }
  meet(transport, rank, ranks);
}

template <AtomicOperations T>
void compare_swap_changes_only_what_it_expects(T& transport, Rank rank, int ranks) {
  constexpr std::size_t place = 16;
  constexpr std::uint64_t large = 0xfedc'ba98'7654'3210U;
  auto window = transport.make_window(64);
  auto old = transport.make_buffer(24);
  std::fill_n(old.data(), 24, std::byte{});
  if (rank == 1) std::memcpy(window.data() + place, &large, sizeof large);
  meet(transport, rank, ranks);
  if (rank == 0) {
    const auto expect_old = [&](std::uint64_t expected, std::uint64_t desired, std::uint64_t found) {
      transport.post_compare_swap(
          {.peer = 1, .buffer = old, .buffer_offset = 8, .window = window, .window_offset = place}, expected, desired);
      transport.wait_operations();
      require(number_at(old.data() + 8) == found, "compare-swap did not return what was there");
    };
    expect_old(1, 2, large);
    expect_old(large, 3, large);
    expect_old(large, 4, 3);
    expect_old(3, 5, 3);
    expect_old(0, 6, 5);
    require(number_at(old.data()) == 0 && number_at(old.data() + 16) == 0, "compare-swap returned too much");
  }
  meet(transport, rank, ranks);
  if (rank == 1) require(number_at(window.data() + place) == 5, "compare-swap left something else");
}

// A counter that every rank but 0 advances by compare-swap.
template <AtomicOperations T>
void compare_swap_is_atomic_under_several_ranks(T& transport, Rank rank, int ranks) {
  constexpr std::uint64_t each = 30;
  auto window = transport.make_window(64);
  auto old = transport.make_buffer(8);
  meet(transport, rank, ranks);
  if (rank != 0) {
    std::uint64_t guess = 0;
    for (std::uint64_t done = 0; done < each;) {
      transport.post_compare_swap({.peer = 0, .buffer = old, .window = window, .window_offset = 8}, guess, guess + 1);
      transport.wait_operations();
      const std::uint64_t found = number_at(old.data());
      done += found == guess ? 1 : 0;
      guess = found == guess ? guess + 1 : found;
    }
  }
  meet(transport, rank, ranks);
  if (rank == 0) {
    const std::uint64_t count = number_at(window.data() + 8);
    require(count == each * static_cast<std::uint64_t>(ranks - 1), "the counter is " + std::to_string(count));
  }
}

// Rank r > 0 writes `count` times with `post`; rank 0 is told as often, by each, with the bytes in place.
template <WritesWithImmediate T, class Post>
void immediates_arrive(T& transport, Rank rank, int ranks, std::size_t bytes, Post post) {
  constexpr std::size_t count = 40;
  const std::size_t part = count * bytes;
  auto window = transport.make_window(part * static_cast<std::size_t>(ranks));
  auto buffer = transport.make_buffer(part);
  const auto salt = [&](Rank from, std::size_t i) { return 7 * i + 1000 * static_cast<std::uint64_t>(from); };
  meet(transport, rank, ranks);
  if (rank != 0) {
    for (std::size_t i = 0; i < count; ++i) {
      fill_payload({buffer.data() + i * bytes, bytes}, salt(rank, i));
      post({.peer = 0,
            .buffer = buffer,
            .buffer_offset = i * bytes,
            .bytes = bytes,
            .window = window,
            .window_offset = part * static_cast<std::size_t>(rank) + i * bytes});
    }
    transport.wait_operations();
    transport.wait_immediate(0);
  } else {
    for (Rank peer = ranks - 1; peer > 0; --peer) {
      const std::byte* const begin = window.data() + part * static_cast<std::size_t>(peer);
      for (std::size_t i = 0; i < count; ++i) {
        transport.wait_immediate(peer);
        expect_payload(begin + i * bytes, bytes, salt(peer, i), "write " + std::to_string(i));
      }
    }
    for (Rank peer = 1; peer < ranks; ++peer) post({.peer = peer, .buffer = buffer, .bytes = bytes, .window = window});
    transport.wait_operations();
  }
  meet(transport, rank, ranks);
}

template <WritesWithImmediate T>
void immediates_arrive_in_number_behind_their_bytes(T& transport, Rank rank, int ranks) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{3000}, std::size_t{40'000}}) {
    immediates_arrive(transport, rank, ranks, bytes,
                      [&](const TransferOf<T>& transfer) { transport.post_write_immediate(transfer); });
  }
}

template <WritesImmediateInline T>
void inline_immediates_arrive_in_number_behind_their_bytes(T& transport, Rank rank, int ranks) {
  const std::size_t bytes = std::min<std::size_t>(transport.max_inline_bytes(), 48);
  const auto post = [&](const TransferOf<T>& transfer) {
    transport.post_write_immediate_inline(transfer);
    std::fill_n(transfer.buffer.data() + transfer.buffer_offset, transfer.bytes, guard);
  };
  immediates_arrive(transport, rank, ranks, bytes, post);
}

// Messages and immediates side by side: neither is taken for the other.
template <WritesWithImmediate T>
void immediates_and_messages_do_not_mix(T& transport, Rank rank, int ranks) {
  auto window = transport.make_window(64);
  auto buffer = transport.make_buffer(64);
  for (std::uint64_t i = 0; i < 20; ++i) {
    if (rank == 0) {
      transport.post_write_immediate({.peer = 1, .buffer = buffer, .bytes = 8, .window = window});
      send_filled(transport, 1, buffer, 16, i);
      transport.post_write_immediate({.peer = 1, .buffer = buffer, .bytes = 8, .window = window, .window_offset = 8});
      transport.wait_operations();
    }
    if (rank == 1) {
      expect_filled(transport, 0, buffer, 16, 16, i);
      transport.wait_immediate(0);
      transport.wait_immediate(0);
    }
  }
  meet(transport, rank, ranks);
}

template <SendsInline T>
void inline_sends_may_be_followed_by_another_use_of_their_bytes(T& transport, Rank rank, int ranks) {
  constexpr std::uint64_t count = 100;
  auto buffer = transport.make_buffer(4096);
  const std::size_t largest = std::min<std::size_t>(transport.max_inline_bytes(), 4096);
  require(largest >= 1, "no byte goes inline");
  const auto length = [&](std::uint64_t i) { return i % (largest + 1); };
  for (std::uint64_t i = 0; i < count; ++i) {
    if (rank == 0) {
      fill_payload({buffer.data(), length(i)}, i);
      transport.post_send_inline(1, buffer, length(i));
    }
    if (rank == 1) expect_filled(transport, 0, buffer, 4096, length(i), i);
  }
  if (rank == 0) transport.wait_sends();
  meet(transport, rank, ranks);
}

// Lists of every length up to 9, over all peers in turn.
template <class T>
  requires WritesRemotely<T> && CollectsPosts<T>
void writes_of_a_list_land(T& transport, Rank rank, int ranks) {
  constexpr std::size_t bytes = 24;
  auto window = transport.make_window(16 * bytes);
  auto buffer = transport.make_buffer(16 * bytes);
  for (std::size_t length = 1; length <= 9; ++length) {
    const std::uint64_t salt = visible_salt(bytes, 50 * length);
    fill_with_guard(window);
    meet(transport, rank, ranks);
    if (rank == 0) {
      for (std::size_t i = 0; i < length; ++i) fill_payload({buffer.data() + i * bytes, bytes}, salt);
      transport.begin_list();
      for (Rank peer = 1; peer < ranks; ++peer) {
        for (std::size_t i = 0; i < length; ++i) {
          transport.post_write({.peer = peer,
                                .buffer = buffer,
                                .buffer_offset = i * bytes,
                                .bytes = bytes,
                                .window = window,
                                .window_offset = i * bytes});
        }
      }
      transport.end_list();
      transport.wait_operations();
    } else {
      await(transport, 0, "the list", [&] { return !shows(window.data() + length * bytes - 1, guard); });
      for (std::size_t i = 0; i < length; ++i) {
        expect_payload_soon(transport, window.data() + i * bytes, bytes, salt, "the list");
      }
      expect_guard(window.data() + length * bytes, window.data() + 16 * bytes, "behind the list");
    }
    meet(transport, rank, ranks);
  }
}

template <CollectsPosts T>
void sends_of_a_list_arrive(T& transport, Rank rank, int ranks) {
  auto buffer = transport.make_buffer(64);
  auto in = transport.make_buffer(64);
  for (std::uint64_t length = 1; length <= 9; ++length) {
    if (rank == 0) {
      fill_payload({buffer.data(), 40}, length);
      transport.begin_list();
      for (Rank peer = 1; peer < ranks; ++peer) {
        for (std::uint64_t i = 0; i < length; ++i) transport.post_send(peer, buffer, 40);
      }
      transport.end_list();
      transport.wait_sends();
    } else {
      for (std::uint64_t i = 0; i < length; ++i) expect_filled(transport, 0, in, 64, 40, length);
    }
    meet(transport, rank, ranks);
  }
}

// An inline post in a list keeps its payload, whenever the list goes.
template <class T>
  requires WritesInline<T> && CollectsPosts<T>
void inline_writes_of_a_list_keep_their_bytes(T& transport, Rank rank, int ranks) {
  constexpr std::size_t count = 5;
  const std::size_t bytes = std::min<std::size_t>(transport.max_inline_bytes(), 32);
  auto window = transport.make_window(count * bytes);
  auto buffer = transport.make_buffer(bytes);
  const auto salt = [&](std::size_t i) { return visible_salt(bytes, 100 * (i + 1)); };
  fill_with_guard(window);
  meet(transport, rank, ranks);
  if (rank == 0) {
    transport.begin_list();
    for (std::size_t i = 0; i < count; ++i) {
      fill_payload({buffer.data(), bytes}, salt(i));
      transport.post_write_inline(
          {.peer = 1, .buffer = buffer, .bytes = bytes, .window = window, .window_offset = i * bytes});
      std::fill_n(buffer.data(), bytes, guard);
    }
    transport.end_list();
    transport.wait_operations();
  }
  if (rank == 1) {
    await(transport, 0, "the list", [&] { return !shows(window.data() + count * bytes - 1, guard); });
    for (std::size_t i = 0; i < count; ++i) {
      expect_payload_soon(transport, window.data() + i * bytes, bytes, salt(i), "write " + std::to_string(i));
    }
  }
  meet(transport, rank, ranks);
}

template <class Operation>
void expect_error(const std::string& what, Operation operation) {
  try {
    operation();
  } catch (const Error&) {
    return;
  }
  throw Violation("no Error for " + what);
}

// The last case on a transport, as all below: the connection may end with it.
template <WritesRemotely T>
void a_write_outside_the_window_is_an_error(T& transport, Rank rank, int /*ranks*/, std::size_t bytes,
                                            std::size_t place) {
  auto window = transport.make_window(4096);
  auto buffer = transport.make_buffer(std::size_t{1} << 20U);
  if (rank != 0) {
    try {
      transport.recv(0, buffer, 1);
    } catch (const Error&) {  // the connection may end
    }
    return;
  }
  expect_error("a write outside the window", [&] {
    transport.post_write({.peer = 1, .buffer = buffer, .bytes = bytes, .window = window, .window_offset = place});
    transport.wait_operations();
  });
}

template <WritesRemotely T>
void a_write_beyond_the_end_is_an_error(T& transport, Rank rank, int ranks) {
  a_write_outside_the_window_is_an_error(transport, rank, ranks, 8, 4090);
}
template <WritesRemotely T>
void a_long_write_beyond_the_end_is_an_error(T& transport, Rank rank, int ranks) {
  a_write_outside_the_window_is_an_error(transport, rank, ranks, std::size_t{1} << 20U, 0);
}

// The key of a window that is gone is a wrong key. Only where a rank may give its window up alone. The write is longer
// than what networks hold: some libraries report shorter ones as complete that the peer will refuse.
template <WritesRemotely T>
void a_write_into_a_window_that_is_gone_is_an_error(T& transport, Rank rank, int ranks) {
  constexpr std::size_t bytes = std::size_t{32} << 20U;
  auto buffer = transport.make_buffer(bytes);
  auto window = transport.make_window(bytes);
  if (rank != 0) {
    const auto gone = std::move(window);
  }
  meet(transport, rank, ranks);
  if (rank == 0) {
    expect_error("a write into a window that is gone", [&] {
      transport.post_write({.peer = 1, .buffer = buffer, .bytes = bytes, .window = window});
      transport.wait_operations();
    });
    return;
  }
  try {
    transport.recv(0, buffer, 1);
  } catch (const Error&) {  // rank 0 leaves
  }
}

}  // namespace chiplog::conformance
