// Writes the lines of a run; rank 0 only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chiplog {

// zlib's CRC-32.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes);

// `object` with "crc32" appended as its last member. `object` is a JSON object that is not empty.
[[nodiscard]] std::string with_crc32(std::string_view object);

class RecordSink {
 public:
  // Does not own `descriptor`.
  explicit RecordSink(int descriptor) : descriptor_(descriptor) {}

  // Writes one line with its checksum. Throws Error (run_failed) if the disk is full or the reader is gone.
  void write(std::string_view object);
  // Writes one line unchanged, for messages that do not belong to a run file.
  void write_plain(std::string_view object);

 private:
  void write_all(std::string_view bytes);

  int descriptor_;
};

}  // namespace chiplog
