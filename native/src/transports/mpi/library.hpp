// The run header's description of the MPI library: its version and the settings that decide how it sends.
#pragma once

#include <string>

namespace chiplog {

// {"library": .., "standard": "3.1", "settings": {..}}; call it between MPI_Init and MPI_Finalize.
[[nodiscard]] std::string describe_mpi_json();

}  // namespace chiplog
