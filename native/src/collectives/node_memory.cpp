#include "collectives/node_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <utility>

namespace chiplog::collectives {
namespace {

std::uint64_t fresh_token() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U) | random();
}

}  // namespace

NodeMemory::~NodeMemory() {
  close();
  if (memory_ != nullptr) munmap(memory_, mapped_bytes_);
}

NodeMemory::NodeMemory(NodeMemory&& other) noexcept { *this = std::move(other); }

NodeMemory& NodeMemory::operator=(NodeMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

NodeMemory NodeMemory::make(std::size_t bytes) {
  NodeMemory made;
  made.descriptor_ = memfd_create("chiplog-barrier", MFD_CLOEXEC);
  if (made.descriptor_ < 0) return made;
  if (ftruncate(made.descriptor_, static_cast<off_t>(bytes + sizeof(std::uint64_t))) != 0) return made;
  made.map(bytes);
  if (made.memory_ != nullptr) made.token() = fresh_token();
  return made;
}

NodeMemory NodeMemory::open(const MemoryAddress& address, std::size_t bytes) {
  NodeMemory opened;
  const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  // Without blocking: in another container the number may be somebody's pipe.
  opened.descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  struct stat status{};
  const auto expected_bytes = static_cast<off_t>(bytes + sizeof(std::uint64_t));
  if (opened.descriptor_ < 0 || fstat(opened.descriptor_, &status) != 0 || status.st_size != expected_bytes) {
    return {};
  }
  opened.map(bytes);
  opened.close();
  if (opened.memory_ == nullptr || opened.token() != address.token) return {};
  return opened;
}

MemoryAddress NodeMemory::address() const {
  if (memory_ == nullptr) return {};
  return {getpid(), descriptor_, token()};
}

void NodeMemory::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void NodeMemory::map(std::size_t bytes) {
  mapped_bytes_ = bytes + sizeof(std::uint64_t);
  void* mapped = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped != MAP_FAILED) memory_ = static_cast<std::byte*>(mapped);
}

std::uint64_t& NodeMemory::token() const {
  return *reinterpret_cast<std::uint64_t*>(memory_ + mapped_bytes_ - sizeof(std::uint64_t));
}

}  // namespace chiplog::collectives
