// A message between two simulated processes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "transports/sim/picoseconds.hpp"

namespace chiplog::sim {

struct Message {
  std::size_t bytes = 0;
  Picoseconds posted = 0;
  Picoseconds arrival = 0;                            // of its last byte, where it meets no other message
  Picoseconds wire = 0;                               // of its bytes after the first
  Picoseconds keeps_nic = 0;                          // that receives it; 0: no other message waits for it
  bool under_way = false;                             // in a node's NIC, which does not know yet how long it takes
  std::optional<Picoseconds> drained = std::nullopt;  // when a node's NIC was done with it
  bool synchronises = false;
  double duplex = 1.0;  // how many times as long its bytes take as those of a message that meets no other
  bool has_payload = false;
  std::vector<std::byte> payload = {};
  std::byte* target = nullptr;  // of a write: where its payload goes
};

}  // namespace chiplog::sim
