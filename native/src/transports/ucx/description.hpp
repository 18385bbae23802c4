// What the run's header says of UCX: which it is, what it was told and what it chose.
#pragma once

#include <string>

#include "transports/ucx/network.hpp"

namespace chiplog::ucx {

// One JSON object; call it when the endpoints have connected.
[[nodiscard]] std::string describe_json(const Network& network, const UcxOptions& options);

}  // namespace chiplog::ucx
