// Whatever arrives as a request line is either a request or a UsageError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "chiplog/error.hpp"
#include "core/request.hpp"
#include "patterns/list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)chiplog::parse_request({reinterpret_cast<const char*>(data), size}, chiplog::AllPatterns::facts);
  } catch (const chiplog::UsageError&) {
  }
  return 0;
}
