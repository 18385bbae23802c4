// Message contents that differ from those of any other message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace chiplog {

// The same `salt` gives the same bytes on every host.
void fill_payload(std::span<std::byte> payload, std::uint64_t salt);

// Describes the first byte that differs from what `fill_payload` writes; empty if all are right.
[[nodiscard]] std::optional<std::string> find_mismatch(std::span<const std::byte> payload, std::uint64_t salt);

}  // namespace chiplog
