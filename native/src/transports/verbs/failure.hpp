// Translates a failed work request into the error for the rank that waits for it.
#pragma once

#include <infiniband/verbs.h>

#include <exception>

#include "chiplog/transport.hpp"

namespace chiplog::verbs {

// Throws PeerLost where the peer is gone, otherwise an Error that says what the device reported.
[[nodiscard]] std::exception_ptr failure_of(const ibv_wc& completion, Rank peer);

}  // namespace chiplog::verbs
