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
#undef CHIPLOG_TRANSPORT
  return all;
}

const TransportEntry& find_transport(std::string_view name) {
  std::string names;
  for (const TransportEntry* entry : transports()) {
    if (entry->name == name) return *entry;
    names += names.empty() ? "" : ", ";
    names += entry->name;
  }
  throw UsageError("unknown transport '" + std::string(name) + "'; this probe has " + names);
}

}  // namespace chiplog
