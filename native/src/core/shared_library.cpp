#include "core/shared_library.hpp"

#include <dlfcn.h>

#include "chiplog/error.hpp"

namespace chiplog {

SharedLibrary SharedLibrary::open(std::initializer_list<const char*> names) {
  std::string reasons;
  for (const char* name : names) {
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle != nullptr) return {name, handle};
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  throw Error(ExitCode::run_failed, "a library is missing: " + reasons);
}

void* SharedLibrary::address_of(const char* symbol) const {
  void* address = dlsym(handle_, symbol);
  if (address == nullptr)
    throw Error(ExitCode::run_failed, name_ + " has no function " + symbol + "; it may be too old");
  return address;
}

}  // namespace chiplog
