#include "core/failures.hpp"

#include "chiplog/error.hpp"
#include "core/error_text.hpp"

namespace chiplog {

std::string name_of(Rank peer) { return "rank " + std::to_string(peer); }

void throw_left(Rank peer) { throw PeerLost(name_of(peer) + " has left the run", peer); }

void throw_closed(Rank peer) { throw PeerLost(name_of(peer) + " closed the connection", peer); }

void throw_disconnected(Rank peer) {
  throw PeerLost(name_of(peer) + " is no longer connected after an earlier error", peer);
}

void throw_takes_no_more(Rank peer) {
  throw PeerLost(name_of(peer) + " takes no more messages after one that was too long", peer);
}

void throw_unreachable(Rank peer, int system_error) {
  throw PeerLost(name_of(peer) + " can't be reached: " + system_error_text(system_error), peer);
}

void throw_timed_out(Rank peer, std::chrono::nanoseconds time_limit) {
  throw TimedOut("no word from " + name_of(peer) + " within " + seconds_text(time_limit), peer);
}

void throw_truncated(Rank source, std::size_t message_bytes, std::size_t capacity_bytes) {
  throw Truncated("a message of " + std::to_string(message_bytes) + " bytes from " + name_of(source) + " exceeds the " +
                  std::to_string(capacity_bytes) + " bytes that were asked for");
}

void throw_truncated(Rank source) {
  throw Truncated("a message from " + name_of(source) + " exceeds the bytes that were asked for");
}

void throw_outside_window(Rank peer, std::size_t window_offset, std::size_t bytes, std::size_t window_bytes) {
  throw Error(ExitCode::run_failed, std::to_string(bytes) + " bytes at " + std::to_string(window_offset) +
                                        " reach outside the window of " + name_of(peer) + ", which has " +
                                        std::to_string(window_bytes));
}

void throw_unaligned(std::size_t window_offset) {
  throw Error(ExitCode::run_failed,
              "an atomic operation at " + std::to_string(window_offset) + " of a window: it must be a multiple of 8");
}

void throw_too_many_posted(std::size_t most, std::string_view what, std::string_view transport) {
  throw UsageError("more than " + std::to_string(most) + " " + std::string(what) + " are posted at once over " +
                   std::string(transport));
}

}  // namespace chiplog
