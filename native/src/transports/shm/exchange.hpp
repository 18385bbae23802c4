// A message out and one in at the same time, through the two channels between two ranks.
#pragma once

#include "transports/shm/channel.hpp"

namespace chiplog::shm {

// What goes out: `bytes` at `from`, more than `inline_bytes`.
struct OutgoingMessage {
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
  std::size_t done_bytes = 0;
};

// Sends and receives in turn: a part goes into the ring where there is room, and a part that has come is taken out of
// the other ring. So neither rank waits for the other to receive.
template <class Fetch>
void exchange(Sender& sender, OutgoingMessage out, Receiver& receiver, IncomingMessage& in, Watch& watch, Rank peer,
              Fetch fetch) {
  const auto move_some = [&] {
    const std::size_t before = out.done_bytes;
    if (before < out.bytes) out.done_bytes = sender.send_more(out.from, out.bytes, before);
    const bool has_received = !in.is_whole && receiver.receive_more(in, fetch);
    return has_received || out.done_bytes > before;
  };
  while (out.done_bytes < out.bytes || !in.is_whole) watch.wait(peer, move_some);
}

}  // namespace chiplog::shm
