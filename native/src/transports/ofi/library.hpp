// libfabric's few real functions, found when the probe runs; all others are calls through its objects.
#pragma once

#include <rdma/fabric.h>

#include <memory>
#include <string>

#include "chiplog/transport.hpp"

namespace chiplog::ofi {

struct Library {
  decltype(::fi_getinfo)* get_info;
  decltype(::fi_freeinfo)* free_info;
  decltype(::fi_dupinfo)* copy_info;
  decltype(::fi_fabric)* open_fabric;
  decltype(::fi_version)* version;
  decltype(::fi_strerror)* error_text;
  decltype(::fi_tostr)* text;
};

// The first call loads it. Throws Error where this machine has no libfabric.
const Library& library();

// "1.17"
[[nodiscard]] std::string library_version();

struct FreeInfo {
  void operator()(fi_info* info) const { library().free_info(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

template <class Object>
struct CloseObject {
  void operator()(Object* object) const { fi_close(&object->fid); }
};
// Objects go in the reverse order of their making.
template <class Object>
using Owned = std::unique_ptr<Object, CloseObject<Object>>;

// `code` is one of libfabric's error numbers, positive. PeerLost for those that mean that a peer is gone.
[[noreturn]] void throw_failure(int code, const std::string& what);

// Throws an Error that names `what` if `result` is negative.
inline void check(long result, const char* what) {
  if (result < 0) throw_failure(static_cast<int>(-result), what);
}

}  // namespace chiplog::ofi
