#include "bootstrap/hmac.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace chiplog {
namespace {

constexpr std::size_t block_bytes = 64;

constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

std::uint32_t big_endian_word(const std::byte* bytes) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8U | static_cast<std::uint32_t>(bytes[i]);
  return word;
}

void absorb(State& state, const std::byte* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian_word(block + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3U;
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10U;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[t] + w[t];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const State add{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += add[i];
}

}  // namespace

Digest sha256(std::span<const std::byte> message) {
  State state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::size_t at = 0;
  for (; message.size() - at >= block_bytes; at += block_bytes) absorb(state, message.data() + at);

  // Pads the rest with a 1 bit and zeros; the last eight bytes hold the length in bits.
  std::array<std::byte, 2 * block_bytes> tail{};
  std::copy(message.begin() + static_cast<std::ptrdiff_t>(at), message.end(), tail.begin());
  const std::size_t rest = message.size() - at;
  tail[rest] = std::byte{0x80};
  const std::size_t tail_bytes = rest + 1 + 8 <= block_bytes ? block_bytes : 2 * block_bytes;
  std::uint64_t bits = std::uint64_t{message.size()} * 8;
  for (std::size_t i = 1; i <= 8; ++i, bits >>= 8U) tail[tail_bytes - i] = static_cast<std::byte>(bits & 0xffU);
  for (std::size_t block = 0; block < tail_bytes; block += block_bytes) absorb(state, tail.data() + block);

  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::byte>(state[i / 4] >> (24 - 8 * (i % 4)) & 0xffU);
  }
  return digest;
}

Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message) {
  std::array<std::byte, block_bytes> padded_key{};
  if (key.size() > block_bytes) {
    const Digest shortened = sha256(key);
    std::copy(shortened.begin(), shortened.end(), padded_key.begin());
  } else {
    std::copy(key.begin(), key.end(), padded_key.begin());
  }
  std::vector<std::byte> inner;
  inner.reserve(block_bytes + message.size());
  for (const std::byte b : padded_key) inner.push_back(b ^ std::byte{0x36});
  inner.insert(inner.end(), message.begin(), message.end());
  const Digest inner_digest = sha256(inner);

  std::array<std::byte, block_bytes + sizeof(Digest)> outer{};
  std::transform(padded_key.begin(), padded_key.end(), outer.begin(), [](std::byte b) { return b ^ std::byte{0x5c}; });
  std::copy(inner_digest.begin(), inner_digest.end(), outer.begin() + block_bytes);
  return sha256(outer);
}

bool equal_in_constant_time(const Digest& a, const Digest& b) {
  std::byte difference{};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{};
}

}  // namespace chiplog
