#include "transports/ofi/library.hpp"

#include <rdma/fi_errno.h>

#include "chiplog/error.hpp"
#include "core/shared_library.hpp"
#include "transports/ofi/signals.hpp"

namespace chiplog::ofi {
namespace {

Library load() {
  const KeepSignalHandlers keep;
  const SharedLibrary found = SharedLibrary::open({"libfabric.so.1"});
  return {
      .get_info = found.function<decltype(::fi_getinfo)>("fi_getinfo"),
      .free_info = found.function<decltype(::fi_freeinfo)>("fi_freeinfo"),
      .copy_info = found.function<decltype(::fi_dupinfo)>("fi_dupinfo"),
      .open_fabric = found.function<decltype(::fi_fabric)>("fi_fabric"),
      .version = found.function<decltype(::fi_version)>("fi_version"),
      .error_text = found.function<decltype(::fi_strerror)>("fi_strerror"),
      .text = found.function<decltype(::fi_tostr)>("fi_tostr"),
  };
}

bool means_lost(int code) {
  switch (code) {
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_ECONNREFUSED:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case EPIPE:
      return true;
    default:
      return false;
  }
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

std::string library_version() {
  const std::uint32_t version = library().version();
  return std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version));
}

void throw_failure(int code, const std::string& what) {
  const std::string sentence = what + ": " + library().error_text(code);
  if (means_lost(code)) throw PeerLost(sentence);
  throw Error(ExitCode::run_failed, sentence);
}

}  // namespace chiplog::ofi
