// HMAC-SHA-256 (FIPS 180-4, RFC 2104): proves that both ends of a connection know one secret.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace chiplog {

using Digest = std::array<std::byte, 32>;

[[nodiscard]] Digest sha256(std::span<const std::byte> message);
[[nodiscard]] Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message);

// Compares in constant time, wherever the two differ.
[[nodiscard]] bool equal_in_constant_time(const Digest& a, const Digest& b);

}  // namespace chiplog
