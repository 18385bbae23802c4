#include "transports/rank_memory.hpp"

#include <cerrno>
#include <cstring>

#include "core/error_text.hpp"

namespace chiplog {
namespace {

// A maker's message: the address of its memory, or why it has none.
std::string announce(const NodeMemory& memory) {
  const NodeMemoryAddress address = memory.address();
  return std::string(reinterpret_cast<const char*>(&address), sizeof address) + memory.failure();
}

}  // namespace

RankMemory::RankMemory(Bootstrap& bootstrap, Rank maker, std::size_t bytes) {
  NodeMemory made;
  if (bootstrap.rank() == maker) made = NodeMemory::make(bytes);
  const std::string told =
      bootstrap.all_gather(bootstrap.rank() == maker ? announce(made) : "")[static_cast<std::size_t>(maker)];
  NodeMemoryAddress address;
  std::string failure;
  if (told.size() != sizeof address) {
    failure = told.size() < sizeof address ? "its address is missing" : told.substr(sizeof address);
  } else {
    std::memcpy(&address, told.data(), sizeof address);
    // The maker, too: the places belong to what was opened.
    memory_ = NodeMemory::open(address, bytes);
    failure = memory_.failure();
    if (failure.empty() && !memory_.hold(bootstrap.rank())) failure = system_error_text(errno);
  }
  // The maker keeps its own descriptor until all have opened the memory.
  failures_ = bootstrap.all_gather(failure);
}

}  // namespace chiplog
