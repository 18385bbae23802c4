// The operations that carry a message, and the ways to post them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "chiplog/transport.hpp"

namespace chiplog {

enum class Operation { send, rdma_write, rdma_write_immediate, rdma_read, atomic };
inline constexpr std::array<std::string_view, 5> operation_names{"send", "rdma-write", "rdma-write-immediate",
                                                                 "rdma-read", "atomic"};

enum class Posting { normal, in_line, list };
inline constexpr std::array<std::string_view, 3> posting_names{"normal", "inline", "list"};

[[nodiscard]] constexpr std::string_view name_of(Operation operation) {
  return operation_names[static_cast<std::size_t>(operation)];
}
[[nodiscard]] constexpr std::string_view name_of(Posting posting) {
  return posting_names[static_cast<std::size_t>(posting)];
}

// True if the target takes no part, so that nothing comes back but the completion at the origin.
[[nodiscard]] constexpr bool is_passive(Operation operation) {
  return operation == Operation::rdma_read || operation == Operation::atomic;
}
[[nodiscard]] constexpr bool is_write(Operation operation) {
  return operation == Operation::rdma_write || operation == Operation::rdma_write_immediate;
}

inline constexpr std::size_t atomic_bytes = 8;
// A write is noticed by a counter in its last byte, so the two ends may not be further apart than half of what that
// counts. The receiver of a longer train would take an old write for a new one.
inline constexpr std::int64_t most_unanswered_writes = 100;

// Why a transport with these capabilities can't do it; empty if it can.
[[nodiscard]] std::optional<std::string_view> why_not(const Capabilities& capabilities, Operation operation);

}  // namespace chiplog
