// A message on a stream: a header of eight bytes, then the payload.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace chiplog::stream {

inline constexpr std::size_t header_bytes = 8;
inline constexpr std::size_t max_payload_bytes = (std::size_t{1} << 48U) - 1;

// The length, and a mark in the upper 16 bits that tells a header from anything else. In the host's byte order: what
// is measured must not pay for conversions, and a mark in the wrong order is refused.
[[nodiscard]] constexpr std::uint64_t header_of(std::size_t payload_bytes) {
  constexpr std::uint64_t mark = 0xc41b;
  return mark << 48U | payload_bytes;
}

inline void store_header(std::byte* frame, std::size_t payload_bytes) {
  const std::uint64_t header = header_of(payload_bytes);
  std::memcpy(frame, &header, sizeof header);
}

[[nodiscard]] inline std::uint64_t load_header(const std::byte* frame) {
  std::uint64_t header = 0;
  std::memcpy(&header, frame, sizeof header);
  return header;
}

// Nothing if these bytes are no header.
[[nodiscard]] constexpr std::optional<std::size_t> payload_bytes_of(std::uint64_t header) {
  const auto payload_bytes = static_cast<std::size_t>(header & max_payload_bytes);
  if (header != header_of(payload_bytes)) return std::nullopt;
  return payload_bytes;
}

}  // namespace chiplog::stream
