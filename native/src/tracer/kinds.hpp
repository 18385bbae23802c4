// Numbers of the MPI's functions, and their names for the file.
#pragma once

#include <cstdint>

namespace chiplog::tracer {

using Kind = std::uint8_t;

// For use while the library is loaded; the same name may be added again.
Kind add_kind(const char* name);

// Copies all names to the file's header.
void write_kinds();

}  // namespace chiplog::tracer
