// Memory of other processes of this host, by the kernel's cross-memory attach: one copy, without a buffer between.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "chiplog/transport.hpp"

namespace chiplog::cma {

// A rank's process.
struct Process {
  Rank rank = 0;
  pid_t id = 0;
};

// Where bytes are in another process.
using Address = std::uint64_t;

// What remains of a copy after a first call that copied `done` bytes, or failed (-1, with errno). PeerLost where the
// process has ended, Error where it has no such memory or the kernel forbids it.
void finish_read(const Process& from, Address address, std::byte* to, std::size_t bytes, ssize_t done);
void finish_write(const Process& to, Address address, const std::byte* from, std::size_t bytes, ssize_t done);

inline void read(const Process& from, Address address, std::byte* to, std::size_t bytes) {
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  const ssize_t done = process_vm_readv(from.id, &here, 1, &there, 1, 0);
  if (done != static_cast<ssize_t>(bytes)) [[unlikely]] {
    finish_read(from, address, to, bytes, done);
  }
}

inline void write(const Process& to, Address address, const std::byte* from, std::size_t bytes) {
  const iovec here{const_cast<std::byte*>(from), bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  const ssize_t done = process_vm_writev(to.id, &here, 1, &there, 1, 0);
  if (done != static_cast<ssize_t>(bytes)) [[unlikely]] {
    finish_write(to, address, from, bytes, done);
  }
}

}  // namespace chiplog::cma
