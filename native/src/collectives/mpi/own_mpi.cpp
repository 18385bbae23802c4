#include "collectives/mpi/own_mpi.hpp"

#include <mpi.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "collectives/settings.hpp"

namespace chiplog::collectives {

#ifndef CHIPLOG_SMPI
namespace {

// "MPICH Version:      4.0.2\nMPICH Release date: ..." gives "MPICH Version: 4.0.2".
std::string first_part_of(std::string_view version) {
  std::string part;
  for (const char letter : version.substr(0, version.find_first_of(",\n"))) {
    const bool is_space = letter == ' ' || letter == '\t';
    if (!is_space) part += letter;
    if (is_space && !part.empty() && part.back() != ' ') part += ' ';
  }
  return part;
}

}  // namespace
#endif

void end_under_other_mpi() {
#ifndef CHIPLOG_SMPI
#ifdef OPEN_MPI
  constexpr bool built_for_open_mpi = true;
#else
  constexpr bool built_for_open_mpi = false;
#endif
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS) return;
  const std::string running = first_part_of(text);
  if (running.starts_with("Open MPI") == built_for_open_mpi) return;
  say("this barrier library was built for " + std::string(built_for_open_mpi ? "Open MPI" : "MPICH or its kin") +
      ", but the program runs under " + running +
      ": preload what chiplog library build --mpi makes with that MPI's compiler.");
  std::_Exit(EXIT_FAILURE);
#endif
}

}  // namespace chiplog::collectives
