#include "transports/registry.hpp"

#include <array>
#include <string>

#include "chiplog/error.hpp"

namespace chiplog {

std::span<const TransportEntry* const> transports() {
#define CHIPLOG_TRANSPORT(entry) &entry,
  static constexpr std::array all{
#include "transports/list.inc"
  };
  return all;
}

// The macro's list may be empty.
std::span<const NotBuilt> transports_not_built() {
#define CHIPLOG_NOT_BUILT(transport, what_is_missing) NotBuilt{transport, what_is_missing},
  static constexpr std::array absent{
#include "transports/list.inc"
      NotBuilt{},
  };
  return std::span(absent).first(absent.size() - 1);
}

Availability availability_of(const TransportEntry& transport) {
  Availability found;
  try {
    found = transport.availability();
  } catch (const Error& error) {
    found = {.usable = false, .why = error.what()};
  }
  if (!found.usable && found.remedy.empty()) found.remedy = transport.remedy;
  return found;
}

const TransportEntry& find_transport(std::string_view name) {
  std::string names;
  for (const TransportEntry* entry : transports()) {
    if (entry->name == name) return *entry;
    names += names.empty() ? "" : ", ";
    names += entry->name;
  }
  for (const NotBuilt& absent : transports_not_built()) {
    if (absent.name == name) {
      throw UsageError("this probe was built without transport " + std::string(name) + ", which needs " +
                       std::string(absent.needs));
    }
  }
  throw UsageError("unknown transport '" + std::string(name) + "'; this probe has " + names);
}

}  // namespace chiplog
