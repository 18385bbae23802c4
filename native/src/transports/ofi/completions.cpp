#include "transports/ofi/completions.hpp"

#include <string>

#include "chiplog/error.hpp"

namespace chiplog::ofi {

void Completions::throw_reported(fid_cq* queue, ssize_t result) {
  if (result != -FI_EAVAIL) throw_failure(static_cast<int>(-result), "libfabric can't read a completion queue");
  fi_cq_err_entry entry{};
  check(fi_cq_readerr(queue, &entry, 0), "libfabric can't tell what failed");
  const auto* slot = static_cast<const Slot*>(entry.op_context);
  const std::string who = slot == nullptr ? "a peer" : "rank " + std::to_string(slot->peer);
  if (entry.err == FI_ETRUNC) {
    throw Truncated("a message from " + who + " exceeds the bytes that were asked for, by " +
                    std::to_string(entry.olen));
  }
  throw_failure(entry.err, (slot == &receive_ ? "a message from " : "an operation with ") + who + " failed");
}

}  // namespace chiplog::ofi
