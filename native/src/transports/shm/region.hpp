// Memory that all ranks of one host share.
#pragma once

#include <cstddef>
#include <string>

#include "bootstrap/socket.hpp"
#include "chiplog/bootstrap.hpp"

namespace chiplog::shm {

// The memory has no name in any file system: rank 0 makes it, the others open it through rank 0's process, and the
// system frees it with the last of them, however they end. While a rank lives it holds a lock on one byte of it, which
// the system drops with the process: so the others can tell.
class Region {
 public:
  // Collective; zeroed memory of `bytes`. Throws Error on all ranks if one of them can't have it.
  Region(Bootstrap& bootstrap, std::size_t bytes);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  [[nodiscard]] std::byte* data() const { return memory_; }
  // Makes these pages present, so that no message waits for it.
  static void populate(std::byte* begin, std::size_t bytes);
  // Whether `peer` still holds its lock. One system call.
  [[nodiscard]] bool lives(Rank peer) const;

 private:
  // Why not, or nothing.
  std::string attach(const std::string& path, Rank rank);
  void detach();

  FileDescriptor file_;
  std::byte* memory_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace chiplog::shm
