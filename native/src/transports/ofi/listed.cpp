#include "transports/ofi/operation.hpp"

namespace chiplog::ofi {
namespace {

ssize_t send_message(const Caller& caller, fi_addr_t to, const Operation& operation, std::uint64_t flags) {
  const iovec local{operation.local, operation.bytes};
  void* descriptor = operation.descriptor;
  const fi_msg_tagged message{.msg_iov = &local,
                              .desc = &descriptor,
                              .iov_count = 1,
                              .addr = to,
                              .tag = caller.self,
                              .ignore = 0,
                              .context = operation.slot,
                              .data = 0};
  return fi_tsendmsg(caller.endpoint, &message, flags);
}

ssize_t transfer(const Caller& caller, fi_addr_t to, const Operation& operation, std::uint64_t flags) {
  const iovec local{operation.local, operation.bytes};
  void* descriptor = operation.descriptor;
  const fi_rma_iov remote{operation.remote.address, operation.bytes, operation.remote.key};
  const fi_msg_rma message{.msg_iov = &local,
                           .desc = &descriptor,
                           .iov_count = 1,
                           .addr = to,
                           .rma_iov = &remote,
                           .rma_iov_count = 1,
                           .context = operation.slot,
                           .data = caller.self};
  if (operation.kind == Kind::read) return fi_readmsg(caller.endpoint, &message, flags);
  return fi_writemsg(caller.endpoint, &message,
                     operation.kind == Kind::write_immediate ? flags | FI_REMOTE_CQ_DATA : flags);
}

ssize_t update(const Caller& caller, fi_addr_t to, const Operation& operation, std::uint64_t flags) {
  const fi_ioc operand{operation.operands, 1};
  const fi_ioc expected{operation.operands + 1, 1};
  fi_ioc result{operation.local, 1};
  void* operands_descriptor = operation.operands_descriptor;
  void* descriptor = operation.descriptor;
  const fi_rma_ioc remote{operation.remote.address, 1, operation.remote.key};
  const bool adds = operation.kind == Kind::fetch_add;
  const fi_msg_atomic message{.msg_iov = &operand,
                              .desc = &operands_descriptor,
                              .iov_count = 1,
                              .addr = to,
                              .rma_iov = &remote,
                              .rma_iov_count = 1,
                              .datatype = FI_UINT64,
                              .op = adds ? FI_SUM : FI_CSWAP,
                              .context = operation.slot,
                              .data = 0};
  if (adds) return fi_fetch_atomicmsg(caller.endpoint, &message, &result, &descriptor, 1, flags);
  return fi_compare_atomicmsg(caller.endpoint, &message, &expected, &operands_descriptor, 1, &result, &descriptor, 1,
                              flags);
}

}  // namespace

ssize_t start_listed(const Caller& caller, fi_addr_t to, const Operation& operation, std::uint64_t flags) {
  switch (operation.kind) {
    case Kind::send:
      return send_message(caller, to, operation, flags);
    case Kind::write:
    case Kind::write_immediate:
    case Kind::read:
      return transfer(caller, to, operation, flags);
    case Kind::fetch_add:
    case Kind::compare_swap:
      return update(caller, to, operation, flags);
  }
  return 0;
}

}  // namespace chiplog::ofi
