// Connects every rank with every other.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bootstrap/meeting.hpp"
#include "bootstrap/socket.hpp"
#include "chiplog/bootstrap.hpp"

namespace chiplog::stream {

// Collective. `listener` is this rank's; `published` tells the others where it is, and `address_of` turns what rank
// `peer` published into an address (it may throw). Every connection is proved with a key that rank 0 draws for this
// run. Returns one socket a rank, in the order of the ranks, none for this one.
std::vector<FileDescriptor> connect_mesh(
    Bootstrap& bootstrap, const FileDescriptor& listener, const std::string& published,
    const std::function<SocketAddress(const std::string& published, Rank peer)>& address_of,
    const PrepareSocket& prepare, std::chrono::nanoseconds time_limit);

}  // namespace chiplog::stream
