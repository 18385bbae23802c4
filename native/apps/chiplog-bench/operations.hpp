// The collective operations that are timed, each as the program calls it and as the MPI's own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace chiplog::bench {

// Buffers for every operation; `bytes` is the message, or one rank's block.
class Buffers {
 public:
  Buffers(int bytes, int ranks)
      : bytes_(bytes),
        blocks_(static_cast<std::size_t>(ranks), bytes),
        send_(room(bytes, ranks)),
        receive_(room(bytes, ranks)) {}

  [[nodiscard]] int bytes() const { return bytes_; }
  [[nodiscard]] const int* blocks() const { return blocks_.data(); }  // `bytes` for each rank
  [[nodiscard]] char* send() { return send_.data(); }
  [[nodiscard]] char* receive() { return receive_.data(); }

 private:
  static std::size_t room(int bytes, int ranks) {
    return static_cast<std::size_t>(bytes) * static_cast<std::size_t>(ranks) + 1;
  }
  int bytes_;
  std::vector<int> blocks_;
  std::vector<char> send_;
  std::vector<char> receive_;
};

// Returns the MPI's error code.
using Call = int (*)(Buffers&, MPI_Comm);

struct Operation {
  const char* name;
  Call intercepted;  // MPI_..., which a library that was preloaded may serve
  Call own;          // PMPI_..., the MPI's own
};

// Throws UsageError, which lists all names, if no operation has that name.
const Operation& find_operation(const std::string& name);

}  // namespace chiplog::bench
