// Whatever arrives at the rendezvous: handshake, frames, the point itself and messages' headers.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>

#include "bootstrap/bootstraps.hpp"
#include "bootstrap/frame.hpp"
#include "bootstrap/handshake.hpp"
#include "chiplog/bootstrap.hpp"
#include "chiplog/error.hpp"
#include "transports/stream/frame.hpp"

namespace chiplog {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

// What is accepted says the same when it is written again.
template <class Message>
void check_round_trip(const std::optional<Message>& message, std::span<const std::byte> bytes) {
  if (message) check(std::ranges::equal(encode(*message), bytes));
}

void feed_handshake(std::span<const std::byte> bytes) {
  check_round_trip(decode_challenge(bytes), bytes);
  check_round_trip(decode_answer(bytes), bytes);
  check_round_trip(decode_verdict(bytes), bytes);
  if (const auto answer = decode_answer(bytes)) check(!is_proven(*answer, Challenge{}, "a key nobody knows"));
}

void feed_frames(std::span<const std::byte> bytes) {
  if (bytes.size() < frame_header_bytes) return;
  try {
    check(decode_frame_header(bytes.first<frame_header_bytes>()).bytes <= Bootstrap::max_blob_bytes);
  } catch (const Corrupt&) {
  }
  const auto payload_bytes = stream::payload_bytes_of(stream::load_header(bytes.data()));
  if (payload_bytes) check(stream::header_of(*payload_bytes) == stream::load_header(bytes.data()));
}

void feed_point(std::string_view text) {
  try {
    const RendezvousPoint point = parse_rendezvous_point(text);
    check(point.port != 0 && !point.host.empty());
  } catch (const UsageError&) {
  }
}

}  // namespace
}  // namespace chiplog

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  chiplog::feed_handshake(bytes);
  chiplog::feed_frames(bytes);
  chiplog::feed_point({reinterpret_cast<const char*>(data), size});
  return 0;
}
