#include "transports/node_liveness.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "bootstrap/handshake.hpp"

namespace chiplog {
namespace {

// What a node's first rank tells: a token, by which the others know the file, and its path.
constexpr std::size_t token_bytes = sizeof(Nonce);

struct flock lock_of(Rank rank) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

std::string offer(FileDescriptor& file) {
  file = FileDescriptor(memfd_create("chiplog", MFD_CLOEXEC));
  const Nonce nonce = make_nonce();
  const std::string token(reinterpret_cast<const char*>(nonce.data()), token_bytes);
  if (!file.open() || pwrite(file.get(), token.data(), token_bytes, 0) != static_cast<ssize_t>(token_bytes)) return {};
  return token + "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file.get());
}

// No file where there is none of that path, or another one.
FileDescriptor take(const std::string& offered) {
  if (offered.size() <= token_bytes) return {};
  FileDescriptor file(open(offered.c_str() + token_bytes, O_RDWR | O_CLOEXEC));
  std::array<char, token_bytes> token{};
  if (!file.open() || pread(file.get(), token.data(), token_bytes, 0) != static_cast<ssize_t>(token_bytes)) return {};
  return std::memcmp(token.data(), offered.data(), token_bytes) == 0 ? std::move(file) : FileDescriptor();
}

}  // namespace

NodeLiveness::NodeLiveness(Bootstrap& bootstrap)
    : nodes_(find_nodes(bootstrap)), here_(node_of(nodes_, bootstrap.rank())) {
  const Rank first = nodes_[here_].ranks.front();
  FileDescriptor offered;
  const std::vector<std::string> offers = bootstrap.all_gather(bootstrap.rank() == first ? offer(offered) : "");
  // All open it anew, the first rank, too: locks belong to what was opened.
  file_ = take(offers[static_cast<std::size_t>(first)]);
  struct flock lock = lock_of(bootstrap.rank());
  const bool holds = file_.open() && fcntl(file_.get(), F_OFD_SETLK, &lock) == 0;
  const std::vector<std::string> held = bootstrap.all_gather(holds ? "+" : "");
  for (const Rank rank : nodes_[here_].ranks) {
    if (held[static_cast<std::size_t>(rank)].empty()) file_.reset();  // a rank that holds none would seem gone
  }
}

bool NodeLiveness::lives(Rank peer) const {
  if (!file_.open() || node_of(nodes_, peer) != here_) return true;
  struct flock lock = lock_of(peer);
  return fcntl(file_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace chiplog
