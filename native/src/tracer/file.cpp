#include "tracer/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace chiplog::tracer {
namespace {

constexpr std::uint32_t most_blocks = 0xFFFFFFFFU / starts_in_a_block;

// Zeros that the disk has room for: where it is full, to write to a mapped file would end the program.
void* mapped(int descriptor, std::size_t offset, std::size_t bytes) {
  const auto place = static_cast<off_t>(offset);
  if (const int error = posix_fallocate(descriptor, place, static_cast<off_t>(bytes)); error != 0) {
    errno = error;
    return nullptr;
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, place);
  if (memory == MAP_FAILED) return nullptr;
#ifdef MADV_POPULATE_WRITE
  madvise(memory, bytes, MADV_POPULATE_WRITE);  // all pages at once; an old kernel brings them one by one
#endif
  return memory;
}

}  // namespace

constinit TraceFile trace_file;

void say(const std::string& sentence) {
  const std::string line = "chiplog: " + sentence + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

bool TraceFile::create(const std::string& path) {
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  void* const memory = descriptor_ < 0 ? nullptr : mapped(descriptor_, 0, header_bytes);
  if (memory == nullptr) {
    say("no trace is recorded: " + path + " can't be written: " + std::strerror(errno) + ".");
    if (descriptor_ >= 0) unlink(path.c_str());
    return false;
  }
  header_ = static_cast<FileHeader*>(memory);
  return true;
}

void* TraceFile::add_block(std::uint32_t& number) {
  number = std::atomic_ref(blocks_).fetch_add(1, std::memory_order_relaxed);
  errno = EFBIG;
  if (number >= most_blocks) return nullptr;
  return mapped(descriptor_, header_bytes + number * block_bytes, block_bytes);
}

void TraceFile::release_block(void* block) { munmap(block, block_bytes); }

}  // namespace chiplog::tracer
