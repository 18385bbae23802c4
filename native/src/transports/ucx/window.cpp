#include "transports/ucx/window.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

using ucx::Library;
using ucx::Network;

// What a rank tells the others of its window; the packed key follows.
struct Announcement {
  std::uint64_t address;
  std::uint64_t bytes;
};

ucp_mem_h map(const Network& network, std::size_t bytes) {
  ucp_mem_map_params_t parameters{};
  parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  parameters.length = std::max<std::size_t>(bytes, 1);
  parameters.flags = UCP_MEM_MAP_ALLOCATE;
  ucp_mem_h memory = nullptr;
  network.library().check(network.library().mem_map(network.context(), &parameters, &memory),
                          "allocate a window of " + std::to_string(bytes) + " bytes");
  return memory;
}

std::byte* address_of(const Library& library, ucp_mem_h memory) {
  ucp_mem_attr_t attributes{};
  attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  library.check(library.mem_query(memory, &attributes), "tell where a window is");
  return static_cast<std::byte*>(attributes.address);
}

std::string packed_key(const Network& network, ucp_mem_h memory) {
  void* packed = nullptr;
  std::size_t bytes = 0;
  network.library().check(network.library().rkey_pack(network.context(), memory, &packed, &bytes),
                          "make the key of a window");
  std::string copy(static_cast<const char*>(packed), bytes);
  network.library().rkey_buffer_release(packed);
  return copy;
}

std::string announce(const Announcement& own, const std::string& key) {
  return std::string(reinterpret_cast<const char*>(&own), sizeof own) + key;
}

Announcement parse_announcement(const std::string& blob) {
  Announcement there{};
  if (blob.size() < sizeof there) throw Corrupt("what a rank tells of its window arrived damaged");
  std::memcpy(&there, blob.data(), sizeof there);
  return there;
}

}  // namespace

UcxWindow::UcxWindow(const Network& network, Bootstrap& bootstrap, std::size_t bytes)
    : memory_(map(network, bytes), Unmap{&network}),
      data_(address_of(network.library(), memory_.get())),
      capacity_(bytes) {
  std::memset(data_, 0, bytes);
  const Announcement own{reinterpret_cast<std::uintptr_t>(data_), bytes};
  Rank peer = 0;
  for (const std::string& blob : bootstrap.all_gather(announce(own, packed_key(network, memory_.get())))) {
    const Announcement there = parse_announcement(blob);
    if (there.bytes != bytes) {
      throw UsageError("rank " + std::to_string(peer) + " makes a window of " + std::to_string(there.bytes) +
                       " bytes and rank " + std::to_string(bootstrap.rank()) + " one of " + std::to_string(bytes));
    }
    addresses_.push_back(there.address);
    ucp_rkey_h key = nullptr;
    if (peer != bootstrap.rank()) {
      network.library().check(
          network.library().ep_rkey_unpack(network.endpoint(peer), blob.data() + sizeof there, &key),
          "use the key to the window of rank " + std::to_string(peer));
    }
    keys_.emplace_back(key, DestroyKey{&network});
    ++peer;
  }
  // Using a key may map the memory, which must still be there.
  bootstrap.barrier();
}

}  // namespace chiplog
