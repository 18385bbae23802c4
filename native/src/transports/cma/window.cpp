#include "transports/cma/window.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "chiplog/error.hpp"
#include "core/error_text.hpp"

namespace chiplog::cma {
namespace {

// What a rank tells the others of its window.
struct Announcement {
  Address address = 0;
  std::uint64_t bytes = 0;
};

std::byte* map(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error(ExitCode::run_failed,
                "there is no memory for a window of " + std::to_string(bytes) + " bytes: " + system_error_text(errno));
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace

void Window::Unmap::operator()(std::byte* memory) const { munmap(memory, bytes); }

Window::Window(Bootstrap& bootstrap, std::size_t bytes)
    : bytes_(bytes), memory_(map(std::max<std::size_t>(bytes, 1)), Unmap{std::max<std::size_t>(bytes, 1)}) {
  const Announcement own{reinterpret_cast<Address>(data()), bytes};
  Rank peer = 0;
  for (const std::string& told : bootstrap.all_gather({reinterpret_cast<const char*>(&own), sizeof own})) {
    Announcement there;
    if (told.size() != sizeof there) throw Corrupt("what " + name_of(peer) + " tells of its window arrived damaged");
    std::memcpy(&there, told.data(), sizeof there);
    if (there.bytes != bytes) {
      throw UsageError(name_of(peer) + " makes a window of " + std::to_string(there.bytes) + " bytes and " +
                       name_of(bootstrap.rank()) + " one of " + std::to_string(bytes));
    }
    addresses_.push_back(there.address);
    ++peer;
  }
}

}  // namespace chiplog::cma
