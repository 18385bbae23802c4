#include "tracer/kinds.hpp"

#include <cstddef>
#include <cstring>

#include "tracer/file.hpp"

namespace chiplog::tracer {
namespace {

constinit const char* names[most_kinds] = {};
constinit std::uint32_t known = 0;

}  // namespace

Kind add_kind(const char* name) {
  for (std::uint32_t i = 0; i < known; ++i) {
    if (std::strcmp(names[i], name) == 0) return static_cast<Kind>(i + 1);
  }
  if (known < most_kinds) names[known++] = name;
  return static_cast<Kind>(known);
}

void write_kinds() {
  FileHeader& header = trace_file.header();
  header.kinds = known;
  for (std::uint32_t i = 0; i < known; ++i) std::strncpy(header.names[i], names[i], kind_name_bytes - 1);
}

}  // namespace chiplog::tracer
