// Integers on the wire are little-endian on every host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chiplog {

inline void store_u32(std::byte* to, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> (8 * i) & 0xffU);
}

[[nodiscard]] inline std::uint32_t load_u32(const std::byte* from) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(from[i]) << (8 * i);
  return value;
}

}  // namespace chiplog
