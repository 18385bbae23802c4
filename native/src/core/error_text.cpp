#include "core/error_text.hpp"

#include <sstream>
#include <system_error>

namespace chiplog {

std::string system_error_text(int error) { return std::generic_category().message(error); }

std::string seconds_text(std::chrono::nanoseconds duration) {
  std::ostringstream text;
  text << std::chrono::duration<double>(duration).count() << " s";
  return text.str();
}

}  // namespace chiplog
