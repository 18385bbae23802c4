// The content of a datagram: a header of 32 bytes, then a part of a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace chiplog::udp {

enum class Kind : std::uint8_t {
  data,
  data_to_acknowledge,  // and please tell at once what has arrived
  acknowledgement,
  question,  // what has arrived? Asked after a silence
  answer,
};

// In the host's byte order: what is measured must not pay for conversions, and a mark in the wrong order is refused.
struct Header {
  static constexpr std::uint16_t right_mark = 0xc4d6;

  std::uint16_t mark = right_mark;
  Kind kind = Kind::data;
  std::uint8_t attempt = 0;    // of data: how often it was sent before
  std::uint32_t run = 0;       // tells the datagrams of this run from those of another
  std::uint64_t number = 0;    // of data: its place in the sequence; of questions and answers: the question's
  std::uint64_t expected = 0;  // all data below this number has arrived
  std::uint64_t detail = 0;    // of data: the length of the whole message; of an answer: bit i says that number
                               // expected + 1 + i has arrived
};
static_assert(sizeof(Header) == 32);

// What a socket's buffer charges for a datagram, at most: data and book-keeping are rounded up to powers of two.
[[nodiscard]] constexpr std::size_t buffer_charge(std::size_t datagram_bytes) {
  return datagram_bytes + std::min<std::size_t>(datagram_bytes, 16'384) + 1024;
}

// Counts over all links of a rank since it began.
struct Counters {
  std::uint64_t lost = 0;        // transmissions that had not arrived when a later one of the same datagram did
  std::uint64_t duplicated = 0;  // copies of one transmission, beyond the first
  std::uint64_t reordered = 0;   // datagrams that a later one overtook
  std::uint64_t resent = 0;      // transmissions beyond the first
};

}  // namespace chiplog::udp
