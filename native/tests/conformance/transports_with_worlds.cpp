#include "worlds.hpp"

namespace chiplog::conformance {

std::vector<std::string>& transports_with_worlds() {
  static std::vector<std::string> names;
  return names;
}

}  // namespace chiplog::conformance
