// Zeroed memory that the processes of one node share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace chiplog::collectives {

// Where another process finds the memory: sent as bytes.
struct MemoryAddress {
  std::int64_t process = 0;
  std::int64_t descriptor = -1;
  std::uint64_t token = 0;  // stands behind the memory: it tells it from another file of that number
};

// It has no name in any file system: one process makes it, the others open it through that process, and the system
// frees it with the last of them, however they end.
class NodeMemory {
 public:
  NodeMemory() = default;
  ~NodeMemory();
  NodeMemory(NodeMemory&& other) noexcept;
  NodeMemory& operator=(NodeMemory&& other) noexcept;

  // Empty (`data()` is null) where the system refuses. The maker calls `close` when all others have opened it.
  static NodeMemory make(std::size_t bytes);
  static NodeMemory open(const MemoryAddress& address, std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return memory_; }
  [[nodiscard]] MemoryAddress address() const;
  void close();

 private:
  void map(std::size_t bytes);
  [[nodiscard]] std::uint64_t& token() const;

  std::byte* memory_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  int descriptor_ = -1;
};

}  // namespace chiplog::collectives
