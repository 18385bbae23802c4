// The program's arguments, --name value each; chiplog's own command is what users call.
#pragma once

#include <string>

#include "sync_options.hpp"

namespace chiplog::bench {

struct Options {
  std::string operation = "barrier";
  std::string type = "byte";
  int bytes = 8;
  int samples = 200;        // of each mode and variant
  int block = 20;           // samples of one variant before the other has its turn
  int calls = 100;          // of one sample in round-time mode, fewer where that would take long
  double budget_ns = 10e9;  // after which no further block begins
  unsigned seed = 1;
  bool compare = false;  // MPI_... against PMPI_...
  double lead_ns = 0;    // 0: from what it takes to agree on a start
  SyncOptions sync;
};

// UsageError names an argument that is not understood, and what is accepted.
Options parse_options(int argc, char** argv);

}  // namespace chiplog::bench
