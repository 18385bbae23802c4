// Resolves the `bind` option to an address of this host.
#pragma once

#include <string>

#include "chiplog/bootstrap.hpp"

namespace chiplog {

// `bind` is an address or host name (returned as it is), the name of an interface or a network such as 10.0.0.0/24 (the
// first address of this host there, numeric). Throws UsageError if there is none.
std::string local_address_for(const std::string& bind);

// The address of this rank: as `bind` says, and where that is empty a loopback address if all ranks are on one host,
// else the one at which they met. Collective if `bind` is empty.
std::string own_address(Bootstrap& bootstrap, const std::string& bind);

}  // namespace chiplog
