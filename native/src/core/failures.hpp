// The errors that transports have in common, each with one sentence.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "chiplog/transport.hpp"

namespace chiplog {

// "rank 3"
[[nodiscard]] std::string name_of(Rank peer);

// PeerLost.
[[noreturn]] void throw_left(Rank peer);           // its process has ended
[[noreturn]] void throw_closed(Rank peer);         // it closed the connection
[[noreturn]] void throw_disconnected(Rank peer);   // an earlier error closed the connection
[[noreturn]] void throw_takes_no_more(Rank peer);  // an earlier message was too long for it
[[noreturn]] void throw_unreachable(Rank peer, int system_error);

// TimedOut.
[[noreturn]] void throw_timed_out(Rank peer, std::chrono::nanoseconds time_limit);

// Truncated. The second form is for libraries that do not tell the lengths.
[[noreturn]] void throw_truncated(Rank source, std::size_t message_bytes, std::size_t capacity_bytes);
[[noreturn]] void throw_truncated(Rank source);

// Error: an operation that would reach beyond the window of a peer, or an atomic one between two words.
[[noreturn]] void throw_outside_window(Rank peer, std::size_t window_offset, std::size_t bytes,
                                       std::size_t window_bytes);
[[noreturn]] void throw_unaligned(std::size_t window_offset);

// UsageError; `what` is "sends" or "operations".
[[noreturn]] void throw_too_many_posted(std::size_t most, std::string_view what, std::string_view transport);

}  // namespace chiplog
