// The messages that meet at one process.
#pragma once

#include <algorithm>
#include <vector>

#include "chiplog/transport.hpp"
#include "transports/sim/picoseconds.hpp"

namespace chiplog::sim {

// A NIC receives the messages of different ranks one after the other, each for as long as its sender's NIC sent it;
// those of one rank are as far apart as they were sent. Messages are handed to it in any order: each takes the first
// time that is free.
class ReceivingNic {
 public:
  // The time at which a message begins to be received that comes at `earliest` and keeps the NIC `busy`.
  Picoseconds receive(Rank from, Picoseconds earliest, Picoseconds busy) {
    const auto is_later = [](Picoseconds time, const Span& span) { return time < span.begin; };
    const Picoseconds may_last = earliest - std::min(earliest, longest_);
    auto span = std::upper_bound(taken_.begin(), taken_.end(), may_last, is_later);
    Picoseconds begin = earliest;
    for (; span != taken_.end() && span->begin < begin + busy; ++span) {
      if (span->from != from) begin = std::max(begin, span->end);
    }
    longest_ = std::max(longest_, busy);
    taken_.insert(std::upper_bound(taken_.begin(), taken_.end(), begin, is_later), {from, begin, begin + busy});
    return begin;
  }

  // Nothing of what it has received meets what comes from now on.
  void forget() {
    taken_.clear();
    longest_ = 0;
  }

 private:
  struct Span {
    Rank from;
    Picoseconds begin;
    Picoseconds end;
  };

  std::vector<Span> taken_;  // by ascending begin
  Picoseconds longest_ = 0;
};

}  // namespace chiplog::sim
