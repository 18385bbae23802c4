#include "transports/shm/region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "bootstrap/handshake.hpp"
#include "chiplog/error.hpp"

namespace chiplog::shm {
namespace {

constexpr std::size_t token_bytes = sizeof(Nonce);

std::string with_reason(const std::string& sentence) { return sentence + ": " + system_error_text(errno); }

struct flock lock_of(Rank rank) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

// Rank 0's memory and where others find it, or why there is none.
struct Offer {
  FileDescriptor file;
  std::string path;
  std::string failure;
};

Offer make_memory(std::size_t bytes) {
  Offer offer;
  offer.file = FileDescriptor(memfd_create("chiplog", MFD_CLOEXEC));
  if (!offer.file.open() || ftruncate(offer.file.get(), static_cast<off_t>(bytes)) != 0) {
    offer.failure = with_reason("rank 0 can't make " + std::to_string(bytes) + " bytes of shared memory");
  } else {
    offer.path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(offer.file.get());
  }
  return offer;
}

}  // namespace

// The token behind the last page tells this memory from whatever else another process may have at that path.
Region::Region(Bootstrap& bootstrap, std::size_t bytes) : mapped_bytes_(bytes + token_bytes) {
  const Rank rank = bootstrap.rank();
  Offer offer;
  std::string token(token_bytes, '\0');
  if (rank == 0) {
    offer = make_memory(mapped_bytes_);
    const Nonce nonce = make_nonce();
    std::memcpy(token.data(), nonce.data(), token_bytes);
    if (offer.failure.empty() && pwrite(offer.file.get(), token.data(), token_bytes, static_cast<off_t>(bytes)) !=
                                     static_cast<ssize_t>(token_bytes)) {
      offer.failure = with_reason("rank 0 can't write to shared memory");
    }
  }
  const std::string agreed = bootstrap.broadcast(token + offer.path);
  const std::string path = agreed.substr(token_bytes);

  std::string failure = offer.failure;
  if (!path.empty()) {
    failure = attach(path, rank);
    if (failure.empty() && std::memcmp(memory_ + bytes, agreed.data(), token_bytes) != 0)
      failure = "it is another file";
    if (!failure.empty()) {
      failure = "rank " + std::to_string(rank) + " can't open the shared memory of rank 0 (" + failure +
                "): shm needs all ranks on one host, of one user and in one PID namespace";
    }
  }
  // Nobody goes on, and rank 0 keeps its own descriptor, until all have it.
  for (const std::string& reason : bootstrap.all_gather(failure)) {
    if (!reason.empty()) {
      detach();
      throw Error(ExitCode::run_failed, reason);
    }
  }
}

Region::~Region() { detach(); }

std::string Region::attach(const std::string& path, Rank rank) {
  file_ = FileDescriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status{};
  if (!file_.open() || fstat(file_.get(), &status) != 0) return system_error_text(errno);
  if (static_cast<std::size_t>(status.st_size) != mapped_bytes_) return "it has another size";
  void* memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) return system_error_text(errno);
  memory_ = static_cast<std::byte*>(memory);
  struct flock lock = lock_of(rank);
  return fcntl(file_.get(), F_OFD_SETLK, &lock) == 0 ? std::string{} : system_error_text(errno);
}

void Region::detach() {
  if (memory_ != nullptr) munmap(memory_, mapped_bytes_);
  memory_ = nullptr;
  file_.reset();
}

void Region::populate(std::byte* begin, std::size_t bytes) {
  // Where the kernel doesn't know this, the first messages take the page faults.
  madvise(begin, bytes, MADV_POPULATE_WRITE);
}

bool Region::lives(Rank peer) const {
  struct flock lock = lock_of(peer);
  return fcntl(file_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace chiplog::shm
