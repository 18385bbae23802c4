// The collective operations that are timed, each as the program calls it and as the MPI's own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace chiplog::bench {

// What operations move, and how a reduction joins two of it.
struct Datatype {
  const char* name;
  int bytes;
  MPI_Datatype type;
  MPI_Op reduction;
};

// byte (joined by bitwise or), int or double (by their sum). Throws UsageError, which lists all, for another name.
Datatype find_datatype(const std::string& name);

// Buffers for every operation; `bytes` is the message, or one rank's block, and a multiple of the datatype's.
class Buffers {
 public:
  Buffers(int bytes, int ranks, const Datatype& datatype)
      : bytes_(bytes),
        datatype_(datatype),
        blocks_(static_cast<std::size_t>(ranks), count_in(bytes, datatype)),
        send_(room(bytes, ranks)),
        receive_(room(bytes, ranks)) {}

  [[nodiscard]] int bytes() const { return bytes_; }
  [[nodiscard]] int count() const { return bytes_ / datatype_.bytes; }
  [[nodiscard]] const Datatype& datatype() const { return datatype_; }
  [[nodiscard]] const int* blocks() const { return blocks_.data(); }  // `count` for each rank
  [[nodiscard]] char* send() { return send_.data(); }
  [[nodiscard]] char* receive() { return receive_.data(); }

  // A third buffer as large as the others, made when it is first asked for.
  [[nodiscard]] char* scratch() {
    if (scratch_.empty()) scratch_.resize(send_.size());
    return scratch_.data();
  }

 private:
  // Throws UsageError where the bytes are no whole number of the datatype.
  static int count_in(int bytes, const Datatype& datatype);
  static std::size_t room(int bytes, int ranks) {
    return static_cast<std::size_t>(bytes) * static_cast<std::size_t>(ranks) + 1;
  }
  int bytes_;
  Datatype datatype_;
  std::vector<int> blocks_;
  std::vector<char> send_;
  std::vector<char> receive_;
  std::vector<char> scratch_;
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
