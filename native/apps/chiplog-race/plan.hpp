// What one launch measures: variants of the MPI, and cells in which they race.
#pragma once

#include <string>
#include <vector>

#include "cvars.hpp"

namespace chiplog::race {

// A way to use the MPI: its control variables while a communicator is made, and while operations run on it; or the
// emulation of that name in place of the operation.
struct Variant {
  std::string name;
  Settings settings;
  bool is_emulation = false;
};

// One operation at one number of ranks, one size and of one datatype.
struct Cell {
  std::string operation;
  int ranks = 0;
  int bytes = 0;
  std::string datatype;
  std::vector<std::size_t> variants;  // indices of those that race here
};

// So many processes on each of so many hosts; no hosts: whatever ranks come first.
struct Shape {
  int hosts = 0;
  int processes = 0;
};

struct Plan {
  std::vector<Variant> variants;
  std::vector<Cell> cells;
  std::string cvars;         // only print the control variables whose names contain this
  std::string without;       // the component of Open MPI's that forced algorithms would never be reached behind
  Shape shape;               // of the communicators of hosts x processes ranks
  int samples = 30;          // of a variant in a cell, at most
  int least = 3;             // ... and at least
  double cell_ns = 1e9;      // all samples of a cell should take that long
  double cutoff = 3;         // a variant whose trial takes longer than this times the shortest has no samples
  unsigned seed = 1;         // of the order
  bool checks = false;       // whether results are compared with what they should be
  bool commutative = false;  // whether reductions are checked with operations that commute only
};

// UsageError names an argument that is not understood.
//   --variant NAME:cvar=value,...    --emulation NAME    --cell OPERATION:RANKS:BYTES:DATATYPE:NAME,NAME,...
//   --shape HOSTSxPROCESSES
Plan parse_plan(int argc, char** argv);

}  // namespace chiplog::race
