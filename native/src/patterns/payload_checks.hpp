// What was sent must be what arrives: one check of each kind of operation, in an untimed pass.
#pragma once

#include <cstring>
#include <optional>
#include <string>

#include "core/payload.hpp"
#include "patterns/await_payload.hpp"
#include "patterns/bench.hpp"

namespace chiplog::patterns {

// Different for each check and direction, so that an old message can't pass for a new one.
struct Salts {
  std::uint64_t client = 0;
  std::uint64_t server = 0;
};

// The end of a message that is not the sender's payload.
template <class T>
constexpr std::size_t foreign_bytes() {
  if constexpr (requires { T::counter_bytes; }) {
    return T::counter_bytes;
  } else {
    return 0;
  }
}

template <Transport T, Clock C>
void send_filled(Bench<T, C>& bench, Rank peer, std::size_t bytes, std::uint64_t salt) {
  bench.transport.wait_sends();
  fill_payload({bench.out.data(), bytes}, salt);
  bench.transport.send(peer, bench.out, bytes);
}

template <Transport T, Clock C>
std::optional<std::string> receive_and_compare(Bench<T, C>& bench, Rank peer, std::size_t bytes, std::uint64_t salt) {
  const std::size_t received = bench.transport.recv(peer, bench.in, bytes);
  if (received != bytes) {
    return std::to_string(received) + " bytes arrived, sent were " + std::to_string(bytes);
  }
  std::span<std::byte> arrived(bench.in.data(), bytes);
  if constexpr (requires { bench.transport.landed(peer, bench.in, bytes); }) {
    arrived = bench.transport.landed(peer, bench.in, bytes);
  }
  arrived = arrived.first(bytes - std::min(bytes, foreign_bytes<T>()));
  if constexpr (foreign_bytes<T>() > 0) {
    return await_payload(bench.transport, arrived, salt);  // all that was seen of it is its last byte
  } else {
    return find_mismatch(arrived, salt);
  }
}

// There and back.
template <Transport T, Clock C>
std::optional<std::string> check_messages(Bench<T, C>& bench, Role role, Rank peer, std::size_t bytes, Salts salts) {
  std::optional<std::string> mismatch;
  if (role == Role::client) {
    send_filled(bench, peer, bytes, salts.client);
    mismatch = receive_and_compare(bench, peer, bytes, salts.server);
  } else {
    mismatch = receive_and_compare(bench, peer, bytes, salts.client);
    send_filled(bench, peer, bytes, salts.server);
  }
  return mismatch;
}

inline std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The server fills what the client fetches; after two additions of 1 a word has grown by 2.
template <Transport T, Clock C>
std::optional<std::string> check_passive(Bench<T, C>& bench, Role role, Rank peer, std::size_t bytes, Salts salts) {
  T& transport = bench.transport;
  if (role == Role::server) {
    std::byte* target = transport.target_of(peer);
    fill_payload({target, bytes}, salts.server);
    const std::uint64_t before = word_at(target);
    transport.send(peer, bench.out, no_bytes);
    transport.recv(peer, bench.in, no_bytes);
    if constexpr (T::adds) {
      const std::uint64_t grown = word_at(target) - before;
      if (grown != 2) return "after two additions of 1 a word has grown by " + std::to_string(grown);
    }
    return std::nullopt;
  }
  transport.recv(peer, bench.in, no_bytes);
  transport.send(peer, bench.out, bytes);
  transport.wait_sends();
  const auto mismatch = find_mismatch({bench.out.data(), bytes}, salts.server);
  if constexpr (T::adds) {
    transport.send(peer, bench.out, bytes);
    transport.wait_sends();
  }
  transport.send(peer, bench.out, no_bytes);
  return mismatch;
}

}  // namespace chiplog::patterns
