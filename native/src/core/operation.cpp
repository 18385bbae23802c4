#include "core/operation.hpp"

namespace chiplog {

std::optional<std::string_view> why_not(const Capabilities& capabilities, Operation operation) {
  switch (operation) {
    case Operation::send:
      if (!capabilities.two_sided) return "which has no messages";
      break;
    case Operation::rdma_write:
      if (!capabilities.remote_write) return "which does not write to a peer's memory";
      break;
    case Operation::rdma_write_immediate:
      if (!capabilities.write_with_immediate) return "which has no writes with immediate data";
      break;
    case Operation::rdma_read:
      if (!capabilities.remote_read) return "which does not read a peer's memory";
      break;
    case Operation::atomic:
      if (!capabilities.atomics) return "which has no atomic operations";
      break;
  }
  return std::nullopt;
}

}  // namespace chiplog
