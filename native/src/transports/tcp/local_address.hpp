// Resolves the `bind` option to an address of this host.
#pragma once

#include <string>

namespace chiplog {

// `bind` is an address or host name (returned as it is), the name of an interface or a network such as 10.0.0.0/24 (the
// first address of this host there, numeric). Throws UsageError if there is none.
std::string local_address_for(const std::string& bind);

}  // namespace chiplog
