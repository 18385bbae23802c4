#include "transports/ofi/completions.hpp"

#include <cstdlib>
#include <string>

#include "core/failures.hpp"

namespace chiplog::ofi {

void Completions::throw_reported(fid_cq* queue, ssize_t result) {
  if (result != -FI_EAVAIL) throw_failure(static_cast<int>(-result), "libfabric can't read a completion queue");
  fi_cq_err_entry entry{};
  check(fi_cq_readerr(queue, &entry, 0), "libfabric can't tell what failed");
  const auto* slot = static_cast<const Slot*>(entry.op_context);
  const std::string who = slot == nullptr ? "a peer" : name_of(slot->peer);
  const int code = std::abs(entry.err);  // some providers turn the sign
  if (code == FI_ETRUNC && slot != nullptr) throw_truncated(slot->peer);
  throw_failure(code, (slot == &receive_ ? "a message from " : "an operation with ") + who + " failed");
}

}  // namespace chiplog::ofi
