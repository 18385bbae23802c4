// One send or one-sided operation, and the libfabric call for it.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <cstddef>
#include <cstdint>

#include "transports/ofi/endpoint.hpp"

namespace chiplog::ofi {

// The context of a completion. It begins with the memory that some providers need for themselves.
struct Slot {
  fi_context2 context;
  Rank peer;
  bool done;
};

enum class Kind { send, write, write_immediate, read, fetch_add, compare_swap };

// `slot` is null for what is sent inline and reports no completion. The operands of atomic operations are in registered
// memory: first the one to add or to write, then the one to compare with.
struct Operation {
  Kind kind;
  Rank peer;
  std::byte* local;
  std::size_t bytes;
  void* descriptor;
  OfiWindow::Part remote;
  Slot* slot;
  std::uint64_t* operands = nullptr;
  void* operands_descriptor = nullptr;
};

// Messages are told apart by the rank that sent them, and so are immediates.
struct Caller {
  fid_ep* endpoint;
  std::uint64_t self;
};

// 0, or a negative error; -FI_EAGAIN: ask again once the library has worked.
inline ssize_t start(const Caller& caller, fi_addr_t to, const Operation& operation) {
  const auto& [kind, peer, local, bytes, descriptor, remote, slot, operands, operands_descriptor] = operation;
  fid_ep* const endpoint = caller.endpoint;
  switch (kind) {
    case Kind::send:
      if (slot == nullptr) return fi_tinject(endpoint, local, bytes, to, caller.self);
      return fi_tsend(endpoint, local, bytes, descriptor, to, caller.self, slot);
    case Kind::write:
      if (slot == nullptr) return fi_inject_write(endpoint, local, bytes, to, remote.address, remote.key);
      return fi_write(endpoint, local, bytes, descriptor, to, remote.address, remote.key, slot);
    case Kind::write_immediate:
      if (slot == nullptr) {
        return fi_inject_writedata(endpoint, local, bytes, caller.self, to, remote.address, remote.key);
      }
      return fi_writedata(endpoint, local, bytes, descriptor, caller.self, to, remote.address, remote.key, slot);
    case Kind::read:
      return fi_read(endpoint, local, bytes, descriptor, to, remote.address, remote.key, slot);
    case Kind::fetch_add:
      return fi_fetch_atomic(endpoint, operands, 1, operands_descriptor, local, descriptor, to, remote.address,
                             remote.key, FI_UINT64, FI_SUM, slot);
    case Kind::compare_swap:
      return fi_compare_atomic(endpoint, operands, 1, operands_descriptor, operands + 1, operands_descriptor, local,
                               descriptor, to, remote.address, remote.key, FI_UINT64, FI_CSWAP, slot);
  }
  return 0;
}

// Posts the operation as one of a list: with FI_MORE unless it is the last, with FI_INJECT if it is inline. Each has a
// slot.
ssize_t start_listed(const Caller& caller, fi_addr_t to, const Operation& operation, std::uint64_t flags);

}  // namespace chiplog::ofi
