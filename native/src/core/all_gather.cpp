#include <string>

#include "chiplog/bootstrap.hpp"
#include "chiplog/error.hpp"

namespace chiplog {
namespace {

// Each blob is preceded by its length in decimal and a colon.
std::string pack(const std::vector<std::string>& blobs) {
  std::string packed;
  for (const std::string& blob : blobs) packed += std::to_string(blob.size()) + ":" + blob;
  return packed;
}

std::vector<std::string> unpack(std::string_view packed, int count) {
  std::vector<std::string> blobs;
  while (!packed.empty()) {
    std::size_t size = 0;
    std::size_t at = 0;
    while (at < packed.size() && at < 10 && packed[at] >= '0' && packed[at] <= '9') {
      size = size * 10 + static_cast<std::size_t>(packed[at++] - '0');
    }
    if (at == packed.size() || packed[at] != ':' || size > packed.size() - at - 1) break;
    blobs.emplace_back(packed.substr(at + 1, size));
    packed.remove_prefix(at + 1 + size);
  }
  if (!packed.empty() || blobs.size() != static_cast<std::size_t>(count)) {
    throw Corrupt("what rank 0 gathered from all ranks arrived damaged");
  }
  return blobs;
}

}  // namespace

std::vector<std::string> Bootstrap::all_gather(std::string_view blob) {
  const std::vector<std::string> gathered = gather(blob);
  return unpack(broadcast(rank() == 0 ? pack(gathered) : std::string{}), size());
}

}  // namespace chiplog
