// One TCP connection between every two ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/meeting.hpp"
#include "bootstrap/socket.hpp"
#include "chiplog/bootstrap.hpp"

namespace chiplog {

// Where the ranks listen, and how messages name what was asked for.
struct TcpAddress {
  std::string transport;   // whose options these are: "tcp"
  std::string bind;        // as the user wrote it
  std::string host;        // this rank's address for it
  std::uint16_t port = 0;  // rank r listens at port + r; 0: wherever there is a free one
};

// Collective. One socket a rank, in the order of the ranks, none for this one. Throws UsageError if this rank can't
// listen where it should or is on another host than a loopback address suits, Error or TimedOut naming the address that
// can't be reached.
std::vector<FileDescriptor> connect_over_tcp(Bootstrap& bootstrap, const TcpAddress& address,
                                             const PrepareSocket& prepare, std::chrono::nanoseconds time_limit);

}  // namespace chiplog
