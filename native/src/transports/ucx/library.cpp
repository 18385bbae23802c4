#include "transports/ucx/library.hpp"

#include <cstdlib>

#include "chiplog/error.hpp"

namespace chiplog::ucx {
namespace {

constexpr unsigned least_major = 1;
constexpr unsigned least_minor = 13;

SharedLibrary open_ucp() {
  // UCX reads it once, while the library is loaded.
  setenv("UCX_LOG_FILE", "stderr", 0);
  return SharedLibrary::open({"libucp.so.0"});
}

}  // namespace

Library::Library() : ucp_(open_ucp()), ucs_(SharedLibrary::open({"libucs.so.0"})) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  get_version(&major, &minor, &release);
  if (major != least_major || minor < least_minor) {
    throw Error(ExitCode::run_failed, "ucx needs UCX 1.13 or newer; " + ucp_.name() + " is version " + version());
  }
}

void Library::check(ucs_status_t status, std::string_view what) const {
  if (status != UCS_OK) throw Error(ExitCode::run_failed, "UCX can't " + std::string(what) + ": " + text_of(status));
}

}  // namespace chiplog::ucx
