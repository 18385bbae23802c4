// Message contents that can be told from any other message's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace chiplog {

// The same `salt` gives the same bytes on every host.
void fill_payload(std::span<std::byte> payload, std::uint64_t salt);

// The first byte that differs from what `fill_payload` puts there, in words; nothing if all are right.
[[nodiscard]] std::optional<std::string> find_mismatch(std::span<const std::byte> payload, std::uint64_t salt);

}  // namespace chiplog
