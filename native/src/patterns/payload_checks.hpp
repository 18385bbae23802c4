// Checks in an untimed pass that what arrives is what was sent, for each kind of operation.
#pragma once

#include <cstring>
#include <optional>
#include <string>

#include "core/payload.hpp"
#include "patterns/await_payload.hpp"
#include "patterns/workspace.hpp"

namespace chiplog::patterns {

// They differ for each check and direction, so that an old message can't be taken for a new one.
struct Salts {
  std::uint64_t client = 0;
  std::uint64_t server = 0;
};

template <MessageView M, Clock C>
void send_filled(Workspace<M, C>& work, Rank peer, std::size_t bytes, std::uint64_t salt) {
  work.messages.wait_sends();
  fill_payload({work.out.data(), bytes}, salt);
  work.messages.send(peer, work.out, bytes);
}

template <MessageView M, Clock C>
std::optional<std::string> receive_and_compare(Workspace<M, C>& work, Rank peer, std::size_t bytes,
                                               std::uint64_t salt) {
  const std::size_t received = work.messages.recv(peer, work.in, bytes);
  if (received != bytes) {
    return std::to_string(received) + " bytes arrived, sent were " + std::to_string(bytes);
  }
  const std::span<std::byte> arrived =
      work.messages.landed(peer, work.in, bytes).first(bytes - std::min(bytes, M::counter_bytes));
  if constexpr (M::counter_bytes > 0) {
    return await_payload(work.messages, arrived, salt);  // all that was seen of it is its last byte
  } else {
    return find_mismatch(arrived, salt);
  }
}

// Checks a message there and one back.
template <MessageView M, Clock C>
std::optional<std::string> check_messages(Workspace<M, C>& work, Role role, Rank peer, std::size_t bytes, Salts salts) {
  std::optional<std::string> mismatch;
  if (role == Role::client) {
    send_filled(work, peer, bytes, salts.client);
    mismatch = receive_and_compare(work, peer, bytes, salts.server);
  } else {
    mismatch = receive_and_compare(work, peer, bytes, salts.client);
    send_filled(work, peer, bytes, salts.server);
  }
  return mismatch;
}

inline std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The server fills what the client fetches; after two additions of 1 a word has grown by 2.
template <MessageView M, Clock C>
std::optional<std::string> check_passive(Workspace<M, C>& work, Role role, Rank peer, std::size_t bytes, Salts salts) {
  M& messages = work.messages;
  if (role == Role::server) {
    std::byte* target = messages.target_of(peer);
    fill_payload({target, bytes}, salts.server);
    const std::uint64_t before = word_at(target);
    messages.send(peer, work.out, no_bytes);
    messages.recv(peer, work.in, no_bytes);
    if constexpr (M::adds) {
      const std::uint64_t grown = word_at(target) - before;
      if (grown != 2) return "after two additions of 1 a word has grown by " + std::to_string(grown);
    }
    return std::nullopt;
  }
  messages.recv(peer, work.in, no_bytes);
  messages.send(peer, work.out, bytes);
  messages.wait_sends();
  const auto mismatch = find_mismatch({work.out.data(), bytes}, salts.server);
  if constexpr (M::adds) {
    messages.send(peer, work.out, bytes);
    messages.wait_sends();
  }
  messages.send(peer, work.out, no_bytes);
  return mismatch;
}

}  // namespace chiplog::patterns
