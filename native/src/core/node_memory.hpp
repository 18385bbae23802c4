// Zeroed memory that processes of one node share, and by which they see who of them still lives. All of it is in this
// header, because the barrier library is compiled without the rest of core.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <system_error>
#include <utility>

namespace chiplog {

// Where another process finds the memory: sent as bytes.
struct NodeMemoryAddress {
  std::int64_t process = 0;
  std::int64_t descriptor = -1;
  std::uint64_t token = 0;  // stands behind the memory: it tells it from another file of that number
};

// It has no name in any file system: one process makes it, the others open it through that process, and the system
// frees it with the last of them, however they end.
class NodeMemory {
 public:
  NodeMemory() = default;
  ~NodeMemory() {
    close();
    if (memory_ != nullptr) munmap(memory_, mapped_bytes_);
  }
  NodeMemory(NodeMemory&& other) noexcept { *this = std::move(other); }
  NodeMemory& operator=(NodeMemory&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(failure_, other.failure_);
    return *this;
  }

  // Empty (`data()` is null) where the system refuses, and `failure()` says why. The maker calls `close` when all
  // others have opened it.
  static NodeMemory make(std::size_t bytes) {
    NodeMemory made;
    made.descriptor_ = memfd_create("chiplog", MFD_CLOEXEC);
    if (made.descriptor_ < 0 || ftruncate(made.descriptor_, static_cast<off_t>(bytes + token_bytes)) != 0) {
      made.fail_with(errno);
    } else if (made.map(bytes)) {
      made.put_token(fresh_token());
    }
    return made;
  }
  static NodeMemory open(const NodeMemoryAddress& address, std::size_t bytes) {
    NodeMemory opened;
    const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
    // Without blocking: in another container the number may be somebody's pipe.
    opened.descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    struct stat status{};
    if (opened.descriptor_ < 0 || fstat(opened.descriptor_, &status) != 0) {
      opened.fail_with(errno);
    } else if (status.st_size != static_cast<off_t>(bytes + token_bytes)) {
      opened.fail("it has another size");
    } else if (opened.map(bytes) && opened.token() != address.token) {
      opened.fail("it is another file");
    }
    return opened;
  }

  [[nodiscard]] std::byte* data() const { return memory_; }
  // Why there is no memory: "Permission denied".
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] NodeMemoryAddress address() const {
    if (memory_ == nullptr) return {};
    return {getpid(), descriptor_, token()};
  }
  // The memory stays; nobody can open it through this process any more, and `hold` is over.
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  // Takes a place for as long as this process lives and keeps this object: the system gives it up with either, however
  // it ends. Only on memory that was opened. False where the system refuses.
  [[nodiscard]] bool hold(int place) {
    struct flock lock = lock_of(place);
    return fcntl(descriptor_, F_OFD_SETLK, &lock) == 0;
  }
  // Whether another process holds a place. One system call; true where it fails.
  [[nodiscard]] bool is_held(int place) const {
    struct flock lock = lock_of(place);
    return fcntl(descriptor_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
  }

  // Makes these pages present, so that no first use waits for it; where the kernel doesn't know this, first uses wait.
  static void populate(std::byte* begin, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    madvise(begin, bytes, MADV_POPULATE_WRITE);
#endif
  }

 private:
  static constexpr std::size_t token_bytes = sizeof(std::uint64_t);

  static std::uint64_t fresh_token() {
    std::random_device random;
    return (std::uint64_t{random()} << 32U) | random();
  }
  static struct flock lock_of(int place) {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = place;
    lock.l_len = 1;
    return lock;
  }

  bool map(std::size_t bytes) {
    void* mapped = mmap(nullptr, bytes + token_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (mapped == MAP_FAILED) {
      fail_with(errno);
      return false;
    }
    memory_ = static_cast<std::byte*>(mapped);
    mapped_bytes_ = bytes + token_bytes;
    return true;
  }
  void fail_with(int error) { fail(std::generic_category().message(error)); }
  void fail(std::string why) {
    *this = NodeMemory();
    failure_ = std::move(why);
  }
  void put_token(std::uint64_t token) { std::memcpy(memory_ + mapped_bytes_ - token_bytes, &token, sizeof token); }
  [[nodiscard]] std::uint64_t token() const {
    std::uint64_t token = 0;
    std::memcpy(&token, memory_ + mapped_bytes_ - token_bytes, sizeof token);
    return token;
  }

  std::byte* memory_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  int descriptor_ = -1;
  std::string failure_;
};

}  // namespace chiplog
