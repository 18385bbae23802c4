#include "transports/verbs/memory.hpp"

#include <algorithm>
#include <string>

namespace chiplog::verbs {
namespace {

int access_on(const Device& device) {
  const int atomic = device.attributes.atomic_cap == IBV_ATOMIC_NONE ? 0 : IBV_ACCESS_REMOTE_ATOMIC;
  return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | atomic;
}

}  // namespace

// Registers exactly the bytes asked for, so that a range outside is refused. A region of zero bytes cannot be
// registered.
RegisteredMemory::RegisteredMemory(const Device& device, std::size_t bytes)
    : memory_(bytes),
      region_(owned(
          library().reg_mr(device.domain.get(), memory_.data(), std::max<std::size_t>(bytes, 1), access_on(device)),
          library().dereg_mr, "registering " + std::to_string(bytes) + " bytes (is `ulimit -l` large enough?)")) {}

}  // namespace chiplog::verbs
