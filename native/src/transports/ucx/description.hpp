// The run header's description of UCX: its version, its settings and its choices.
#pragma once

#include <string>

#include "transports/ucx/network.hpp"

namespace chiplog::ucx {

// One JSON object; call it when the endpoints have connected.
[[nodiscard]] std::string describe_json(const Network& network, const UcxOptions& options);

}  // namespace chiplog::ucx
