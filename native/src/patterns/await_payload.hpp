// Waits for the rest of a payload whose last byte has arrived.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/payload.hpp"

namespace chiplog {

// Compares again for up to a second before it reports a difference. A device writes the last byte of a message last;
// where a processor copies it (shared memory), nothing promises that, and the copying process may lose its core in
// between. `transport` is anything that makes progress.
template <class T>
std::optional<std::string> await_payload(T& transport, std::span<const std::byte> payload, std::uint64_t salt) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (true) {
    auto mismatch = find_mismatch(payload, salt);
    if (!mismatch || std::chrono::steady_clock::now() >= deadline) return mismatch;
    transport.progress();
  }
}

}  // namespace chiplog
