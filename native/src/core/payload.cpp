#include "core/payload.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/random.hpp"

namespace chiplog {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::array<std::byte, word_bytes> word_at(std::uint64_t salt, std::size_t index) {
  const std::uint64_t word = split_mix(salt ^ split_mix(index));
  std::array<std::byte, word_bytes> bytes{};
  for (std::size_t i = 0; i < word_bytes; ++i) bytes[i] = static_cast<std::byte>((word >> (8 * i)) & 0xffU);
  return bytes;
}

}  // namespace

void fill_payload(std::span<std::byte> payload, std::uint64_t salt) {
  for (std::size_t at = 0; at < payload.size(); at += word_bytes) {
    const auto word = word_at(salt, at / word_bytes);
    std::copy_n(word.begin(), std::min(word_bytes, payload.size() - at), payload.data() + at);
  }
}

std::optional<std::string> find_mismatch(std::span<const std::byte> payload, std::uint64_t salt) {
  for (std::size_t at = 0; at < payload.size(); at += word_bytes) {
    const auto word = word_at(salt, at / word_bytes);
    const std::size_t count = std::min(word_bytes, payload.size() - at);
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte found = payload[at + i];  // read once: a peer may be writing it
      if (found == word[i]) continue;
      return "byte " + std::to_string(at + i) + " of " + std::to_string(payload.size()) + " is " +
             std::to_string(std::to_integer<int>(found)) + ", sent was " +
             std::to_string(std::to_integer<int>(word[i]));
    }
  }
  return std::nullopt;
}

}  // namespace chiplog
