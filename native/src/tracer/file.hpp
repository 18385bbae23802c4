// The trace file of this rank.
#pragma once

#include <cstdint>
#include <string>

#include "tracer/format.hpp"

namespace chiplog::tracer {

// Mapped into memory, so that whatever was written is in the file however the process ends.
class TraceFile {
 public:
  // Makes the file; false, and a sentence on standard error, where that fails.
  bool create(const std::string& path);
  // A new block of zeros and its number; null where the disk is full, or the file has as many as there are numbers.
  // Any thread may call it.
  void* add_block(std::uint32_t& number);
  static void release_block(void* block);

  [[nodiscard]] bool is_open() const { return header_ != nullptr; }
  [[nodiscard]] FileHeader& header() const { return *header_; }

 private:
  FileHeader* header_ = nullptr;
  int descriptor_ = -1;
  std::uint32_t blocks_ = 0;
};

extern TraceFile trace_file;

// One line on standard error.
void say(const std::string& sentence);

}  // namespace chiplog::tracer
