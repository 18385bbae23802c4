// The function that a program would call without the tracer.
#pragma once

#include <dlfcn.h>

#define CHIPLOG_EXPORT [[gnu::visibility("default")]]

namespace chiplog::tracer {

// Another tool's that is preloaded behind this one, or the MPI's own; `of_mpi` where names lead nowhere.
template <class Function>
Function* next_of(const char* name, Function* of_mpi) {
  void* const found = dlsym(RTLD_NEXT, name);
  return found == nullptr ? of_mpi : reinterpret_cast<Function*>(found);
}

}  // namespace chiplog::tracer

// Looked up once.
#define CHIPLOG_NEXT(NAME)                                                           \
  [] {                                                                               \
    static auto* const found = chiplog::tracer::next_of("MPI_" #NAME, &PMPI_##NAME); \
    return found;                                                                    \
  }()
