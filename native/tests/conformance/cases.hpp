// What every transport must do, as functions that rank 0 and rank 1 run side by side. A case returns, or throws what it
// found wrong. Nothing here knows how the ranks were started.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "chiplog/error.hpp"
#include "chiplog/transport.hpp"
#include "core/payload.hpp"

namespace chiplog::conformance {

class Violation : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw Violation(otherwise);
}

template <Transport T>
void send_filled(T& transport, Rank peer, typename T::Buffer& buffer, std::size_t bytes, std::uint64_t salt) {
  fill_payload({buffer.data(), bytes}, salt);
  transport.send(peer, buffer, bytes);
}

// The message must have this length and these contents, and nothing behind what was asked for may change.
template <Transport T>
void expect_filled(T& transport, Rank peer, typename T::Buffer& buffer, std::size_t capacity_bytes, std::size_t bytes,
                   std::uint64_t salt) {
  constexpr std::byte untouched{0xa5};
  const std::span<std::byte> all(buffer.data(), buffer.capacity());
  const std::span<std::byte> behind = all.subspan(capacity_bytes);
  std::fill(behind.begin(), behind.end(), untouched);
  const std::size_t received = transport.recv(peer, buffer, capacity_bytes);
  require(received == bytes, std::to_string(received) + " bytes arrived of " + std::to_string(bytes));
  const auto mismatch = find_mismatch(all.first(bytes), salt);
  require(!mismatch, "message of " + std::to_string(bytes) + " bytes: " + mismatch.value_or(""));
  require(std::all_of(behind.begin(), behind.end(), [&](std::byte byte) { return byte == untouched; }),
          "bytes behind the " + std::to_string(capacity_bytes) + " that were asked for were changed");
}

// There and back, `bytes` each.
template <Transport T>
void round_trip(T& transport, Rank rank, typename T::Buffer& buffer, std::size_t bytes) {
  const Rank peer = 1 - rank;
  if (rank == 0) send_filled(transport, peer, buffer, bytes, 2 * bytes);
  expect_filled(transport, peer, buffer, bytes, bytes, 2 * bytes + (rank == 0 ? 1 : 0));
  if (rank == 1) send_filled(transport, peer, buffer, bytes, 2 * bytes + 1);
}

template <Transport T>
void empty_messages_arrive(T& transport, Rank rank) {
  auto buffer = transport.make_buffer(0);
  for (int i = 0; i < 3; ++i) round_trip(transport, rank, buffer, 0);
}

template <Transport T>
void one_byte_arrives(T& transport, Rank rank) {
  auto buffer = transport.make_buffer(1);
  round_trip(transport, rank, buffer, 1);
}

template <Transport T>
void every_small_size_arrives_exactly(T& transport, Rank rank) {
  constexpr std::size_t largest = 300;
  auto buffer = transport.make_buffer(largest + 64);
  for (std::size_t bytes = 0; bytes <= largest; ++bytes) round_trip(transport, rank, buffer, bytes);
}

// `bytes`, or the longest message where that is shorter: a transport of datagrams may declare a single one.
template <Transport T>
std::size_t at_most(const T& transport, std::size_t bytes) {
  return std::min(bytes, transport.capabilities().max_message_bytes);
}

template <Transport T>
void sizes_around_powers_of_two_arrive_exactly(T& transport, Rank rank) {
  const std::size_t largest = at_most(transport, (std::size_t{4} << 20U) + 1);
  auto buffer = transport.make_buffer(largest + 64);
  for (std::size_t power = 512; power < largest; power *= 2) {
    for (const std::size_t bytes : {power - 1, power, power + 1}) {
      round_trip(transport, rank, buffer, std::min(bytes, largest));
    }
  }
}

// 64 MiB, or what the transport declares if CHIPLOG_LARGEST_MESSAGES is set: that takes several GiB of memory.
inline std::size_t largest_bytes(const Capabilities& capabilities) {
  constexpr std::size_t usual = std::size_t{64} << 20U;
  if (std::getenv("CHIPLOG_LARGEST_MESSAGES") != nullptr) return capabilities.max_message_bytes;
  return std::min(capabilities.max_message_bytes, usual);
}

// A transport whose messages are single datagrams has a member `sends_datagrams`.
template <Transport T>
void the_largest_message_arrives(T& transport, Rank rank) {
  constexpr std::size_t least = requires { T::sends_datagrams; } ? 512 : std::size_t{1} << 30U;
  require(transport.capabilities().max_message_bytes >= least,
          "messages of " + std::to_string(least) + " bytes must be possible");
  const std::size_t bytes = largest_bytes(transport.capabilities());
  auto buffer = transport.make_buffer(bytes);
  if (rank == 0) {
    send_filled(transport, 1, buffer, bytes, 7);
  } else {
    expect_filled(transport, 0, buffer, bytes, bytes, 7);
  }
}

// A small and a large one in turn, so that a shortcut for either would overtake.
template <Transport T>
void messages_arrive_in_the_order_in_which_they_were_sent(T& transport, Rank rank) {
  constexpr std::uint64_t count = 600;
  constexpr std::size_t sizes[] = {1, 20'000, 0, 56, 57, 300'000, 8};
  auto buffer = transport.make_buffer(300'000);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t bytes = at_most(transport, sizes[i % std::size(sizes)]);
    if (rank == 0) {
      send_filled(transport, 1, buffer, bytes, i);
    } else {
      expect_filled(transport, 0, buffer, buffer.capacity(), bytes, i);
    }
  }
}

// All are on their way before the first is received, in both directions at once.
template <Transport T>
void many_small_messages_may_be_in_flight(T& transport, Rank rank) {
  static_assert(T::max_posted_sends >= 256);
  constexpr std::uint64_t count = std::min<std::uint64_t>(T::max_posted_sends, 1024);
  const Rank peer = 1 - rank;
  std::vector<typename T::Buffer> buffers;
  for (std::uint64_t i = 0; i < count; ++i) {
    buffers.push_back(transport.make_buffer(16));
    fill_payload({buffers.back().data(), 16}, i);
    transport.post_send(peer, buffers.back(), 16);
  }
  auto buffer = transport.make_buffer(16);
  for (std::uint64_t i = 0; i < count; ++i) expect_filled(transport, peer, buffer, 16, 16, i);
  transport.wait_sends();
}

template <Transport T>
void as_many_sends_as_declared_may_be_posted(T& transport, Rank rank) {
  constexpr std::size_t count = std::min<std::size_t>(T::max_posted_sends, 4096);
  auto out = transport.make_buffer(1000);
  auto in = transport.make_buffer(1000);
  fill_payload({out.data(), 1000}, 3);
  for (int repetition = 0; repetition < 2; ++repetition) {
    for (std::size_t i = 0; i < count; ++i) {
      if (rank == 0) {
        transport.post_send(1, out, 1000);
      } else {
        expect_filled(transport, 0, in, 1000, 1000, 3);
      }
    }
    transport.wait_sends();
    round_trip(transport, rank, in, 0);
  }
}

// One receive may find the beginning of the next message, all of it, or several.
template <Transport T>
void short_messages_fit_into_longer_receives(T& transport, Rank rank) {
  constexpr std::size_t sizes[] = {1, 0, 13, 4000, 9, 0, 0, 70'000, 3, 65'528, 5, 65'535, 1};
  auto buffer = transport.make_buffer(200'000);
  for (std::uint64_t repetition = 0; repetition < 40; ++repetition) {
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      const std::uint64_t salt = repetition * std::size(sizes) + i;
      const std::size_t bytes = at_most(transport, sizes[i]);
      if (rank == 0) {
        send_filled(transport, 1, buffer, bytes, salt);
      } else {
        const std::size_t capacity_bytes = salt % 3 == 0 ? bytes : bytes + salt * 200 % 100'000;
        expect_filled(transport, 0, buffer, capacity_bytes, bytes, salt);
      }
    }
    if (repetition % 8 == 7) round_trip(transport, rank, buffer, 1);
  }
}

template <Transport T>
void a_buffer_may_be_used_again_after_its_send(T& transport, Rank rank) {
  constexpr std::size_t sizes[] = {1, 56, 100, 5000, 100'000};
  auto buffer = transport.make_buffer(100'000);
  for (const std::size_t size : sizes) {
    const std::size_t bytes = at_most(transport, size);
    if (rank == 0) {
      send_filled(transport, 1, buffer, bytes, 1);
      send_filled(transport, 1, buffer, bytes, 2);
      fill_payload({buffer.data(), bytes}, 99);
    } else {
      expect_filled(transport, 0, buffer, bytes, bytes, 1);
      expect_filled(transport, 0, buffer, bytes, bytes, 2);
    }
  }
}

// Each rank sends `own_bytes` to the other and receives `peer_bytes` at the same time.
template <Transport T>
void exchange_filled(T& transport, Rank rank, typename T::Buffer& out, std::size_t own_bytes, typename T::Buffer& in,
                     std::size_t peer_bytes, std::uint64_t salt) {
  const auto own = static_cast<std::uint64_t>(rank);
  fill_payload({out.data(), own_bytes}, 2 * salt + own);
  const std::size_t received = exchange_messages(transport, 1 - rank, out, own_bytes, in, in.capacity());
  require(received == peer_bytes, std::to_string(received) + " bytes arrived of " + std::to_string(peer_bytes));
  const auto mismatch = find_mismatch(std::span(in.data(), peer_bytes), 2 * salt + 1 - own);
  require(!mismatch, "message of " + std::to_string(peer_bytes) + " bytes: " + mismatch.value_or(""));
  require(!find_mismatch(std::span(out.data(), own_bytes), 2 * salt + own), "what was sent has changed");
}

// The largest ones are longer than what lies between two ranks has room for.
template <Transport T>
void both_ranks_send_at_once(T& transport, Rank rank) {
  constexpr std::size_t sizes[] = {0, 1, 56, 57, 1000, 4097, 70'000, 1'000'000, (std::size_t{16} << 20U) + 3};
  const std::size_t largest = at_most(transport, sizes[std::size(sizes) - 1]);
  auto out = transport.make_buffer(largest);
  auto in = transport.make_buffer(largest);
  std::uint64_t salt = 0;
  for (const std::size_t size : sizes) {
    const std::size_t bytes = at_most(transport, size);
    for (int repetition = 0; repetition < 3; ++repetition) {
      exchange_filled(transport, rank, out, bytes, in, bytes, ++salt);
    }
  }
}

template <Transport T>
void messages_of_two_lengths_are_exchanged(T& transport, Rank rank) {
  constexpr std::size_t pairs[][2] = {{0, 3'000'000}, {3'000'000, 1}, {50, 100'000}, {2'000'000, 3'000'000}, {9, 57}};
  auto out = transport.make_buffer(3'000'000);
  auto in = transport.make_buffer(3'000'000);
  std::uint64_t salt = 0;
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (const auto& pair : pairs) {
      const std::size_t own_bytes = at_most(transport, pair[rank]);
      exchange_filled(transport, rank, out, own_bytes, in, at_most(transport, pair[1 - rank]), ++salt);
    }
  }
}

// The peer is still in its exchange when the next message comes: that must wait for its receive.
template <Transport T>
void an_exchange_keeps_the_order_of_messages(T& transport, Rank rank) {
  constexpr std::uint64_t count = 200;
  constexpr std::size_t sizes[] = {8, 30'000, 0, 400'000};
  auto out = transport.make_buffer(400'000);
  auto in = transport.make_buffer(400'000);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t bytes = at_most(transport, sizes[i % std::size(sizes)]);
    exchange_filled(transport, rank, out, bytes, in, bytes, i);
    if (rank == 0) {
      send_filled(transport, 1, out, bytes, 1000 + i);
    } else {
      expect_filled(transport, 0, in, in.capacity(), bytes, 1000 + i);
    }
  }
}

// Some are posted long before their message is sent, others when it waits already. Where the transport posts none,
// there is nothing to check.
template <Transport T>
void posted_receives_get_their_messages(T& transport, Rank rank) {
  if constexpr (PostsReceives<T>) {
    constexpr std::size_t sizes[] = {0, 1, 8, 1000, 30'000, 400'000, 3'000'000};
    auto out = transport.make_buffer(3'000'000);
    auto in = transport.make_buffer(3'000'000);
    for (std::uint64_t i = 0; i < 10 * std::size(sizes); ++i) {
      const std::size_t bytes = at_most(transport, sizes[i % std::size(sizes)]);
      if (rank == 0) {
        if (i % 2 == 0) transport.recv(1, in, 0);
        send_filled(transport, 1, out, bytes, i);
      } else {
        transport.post_recv(0, in, bytes);
        if (i % 2 == 0) transport.send(0, out, 0);
        const std::size_t received = transport.wait_recv();
        require(received == bytes, std::to_string(received) + " bytes arrived of " + std::to_string(bytes));
        require(!find_mismatch(std::span(in.data(), bytes), i), "a message of " + std::to_string(bytes) + " bytes");
      }
    }
  }
}

template <Transport T>
void options_in_force_are_one_json_object(T& transport, Rank /*rank*/) {
  const std::string json = transport.options_json();
  require(json.size() >= 2 && json.front() == '{' && json.back() == '}', "options_json() gives " + json);
}

// The last case on a transport: the connection may end with it. The sender may hear of it or not, but not wait.
template <Transport T>
void a_message_longer_than_the_receive_is_truncated(T& transport, Rank rank, std::size_t bytes,
                                                    std::size_t capacity_bytes) {
  auto buffer = transport.make_buffer(bytes);
  if (rank == 0) {
    try {
      transport.send(1, buffer, bytes);
    } catch (const PeerLost&) {
    }
    return;
  }
  try {
    transport.recv(0, buffer, capacity_bytes);
  } catch (const Truncated&) {
    return;
  }
  throw Violation("no Truncated for " + std::to_string(bytes) + " bytes in " + std::to_string(capacity_bytes));
}

// The last case on a transport, too: the other message arrives or fails, since the rank that gave up may have gone with
// it, but nobody waits.
template <Transport T>
void an_exchanged_message_longer_than_the_receive_is_truncated(T& transport, Rank rank) {
  const std::size_t bytes = at_most(transport, std::size_t{16} << 20U);
  auto out = transport.make_buffer(bytes);
  auto in = transport.make_buffer(bytes);
  try {
    exchange_messages(transport, 1 - rank, out, rank == 0 ? bytes : 100, in, 100);
  } catch (const Truncated&) {
    if (rank == 1) return;
    throw;
  } catch (const TimedOut&) {
    throw;
  } catch (const Error&) {
    if (rank == 0) return;
    throw;
  }
  require(rank == 0, "no Truncated for " + std::to_string(bytes) + " bytes in 100");
}

template <Transport T>
void a_short_message_is_truncated(T& transport, Rank rank) {
  a_message_longer_than_the_receive_is_truncated(transport, rank, 5, 4);
}

template <Transport T>
void a_long_message_is_truncated(T& transport, Rank rank) {
  a_message_longer_than_the_receive_is_truncated(transport, rank, at_most(transport, std::size_t{16} << 20U), 100);
}

template <Transport T>
struct Case {
  const char* name;
  void (*run)(T& transport, Rank rank);
};

// Those after which the transport goes on.
template <Transport T>
std::vector<Case<T>> lasting_cases() {
  return {
      {"empty messages arrive", empty_messages_arrive<T>},
      {"one byte arrives", one_byte_arrives<T>},
      {"every small size arrives exactly", every_small_size_arrives_exactly<T>},
      {"sizes around powers of two arrive exactly", sizes_around_powers_of_two_arrive_exactly<T>},
      {"the largest message arrives", the_largest_message_arrives<T>},
      {"messages arrive in the order in which they were sent", messages_arrive_in_the_order_in_which_they_were_sent<T>},
      {"many small messages may be in flight", many_small_messages_may_be_in_flight<T>},
      {"as many sends as declared may be posted", as_many_sends_as_declared_may_be_posted<T>},
      {"short messages fit into longer receives", short_messages_fit_into_longer_receives<T>},
      {"a buffer may be used again after its send", a_buffer_may_be_used_again_after_its_send<T>},
      {"both ranks send at once", both_ranks_send_at_once<T>},
      {"messages of two lengths are exchanged", messages_of_two_lengths_are_exchanged<T>},
      {"an exchange keeps the order of messages", an_exchange_keeps_the_order_of_messages<T>},
      {"posted receives get their messages", posted_receives_get_their_messages<T>},
      {"options in force are one JSON object", options_in_force_are_one_json_object<T>},
  };
}

}  // namespace chiplog::conformance
