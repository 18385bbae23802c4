// Reads request lines as they arrive; rank 0 only.
#pragma once

#include <chrono>
#include <string>

namespace chiplog {

class RequestSource {
 public:
  enum class Outcome { line, idle, end };

  // Does not own `descriptor`.
  explicit RequestSource(int descriptor) : descriptor_(descriptor) {}

  // The next line without its end, or that none came within `patience` (or a signal did), or that there are no more.
  // UsageError for a line above `max_request_bytes`; it is skipped and the next call goes on behind it.
  Outcome next(std::string& line, std::chrono::milliseconds patience);

 private:
  bool take_line(std::string& line);
  bool fill(std::chrono::milliseconds patience);

  int descriptor_;
  bool at_end_ = false;
  bool skipping_ = false;
  std::string buffer_;
  std::size_t scanned_ = 0;
};

}  // namespace chiplog
