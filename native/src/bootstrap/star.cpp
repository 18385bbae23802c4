#include "bootstrap/star.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "bootstrap/frame.hpp"
#include "bootstrap/meeting.hpp"
#include "chiplog/error.hpp"

namespace chiplog {
namespace {

// Small messages go at once, and a host that vanished without a word is noticed while a rank waits for it.
void prepare_connection(int fd) {
  const int on = 1;
  const int idle_seconds = 10;
  const int probe_seconds = 5;
  const int probes = 4;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_seconds, sizeof probe_seconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

constexpr Rank root = 0;

}  // namespace

StarBootstrap::StarBootstrap(Rank rank, int size, std::vector<FileDescriptor> connections,
                             std::chrono::nanoseconds time_limit)
    : rank_(rank), size_(size), connections_(std::move(connections)), time_limit_(time_limit) {}

std::string StarBootstrap::broadcast(std::string_view blob) {
  if (rank_ != root) return receive_blob(root, Deadline::never());
  const Deadline deadline = Deadline::in(time_limit_);
  for (Rank peer = 1; peer < size_; ++peer) send_blob(peer, blob, deadline);
  return std::string(blob);
}

// The rank that sends or ends first is served first, so that a loss is noticed at once even behind a slow rank.
std::vector<std::string> StarBootstrap::gather(std::string_view blob) {
  const Deadline deadline = Deadline::in(time_limit_);
  if (rank_ != root) {
    send_blob(root, blob, deadline);
    return {};
  }
  std::vector<std::string> blobs(static_cast<std::size_t>(size_));
  blobs[root] = blob;
  std::vector<pollfd> waiting;
  for (Rank peer = 0; peer < size_; ++peer) waiting.push_back({peer == root ? -1 : connection(peer), POLLIN, 0});
  for (int missing = size_ - 1; missing > 0;) {
    const int ready = poll(waiting.data(), waiting.size(), deadline.poll_timeout_ms());
    if (ready < 0 && errno != EINTR) throw Error(ExitCode::run_failed, "poll failed: " + system_error_text(errno));
    for (Rank peer = 1; peer < size_; ++peer) {
      pollfd& entry = waiting[static_cast<std::size_t>(peer)];
      if (entry.fd < 0) continue;
      if (ready > 0 && entry.revents != 0) {
        blobs[static_cast<std::size_t>(peer)] = receive_blob(peer, deadline);
        entry.fd = -1;
        --missing;
      } else if (ready == 0 && deadline.passed()) {
        check(IoResult::timed_out, peer);
      }
    }
  }
  return blobs;
}

void StarBootstrap::barrier() {
  gather({});
  if (rank_ == root) {
    broadcast({});
  } else {
    receive_blob(root, Deadline::in(time_limit_));
  }
}

int StarBootstrap::connection(Rank peer) const {
  const std::size_t at = rank_ == root ? static_cast<std::size_t>(peer) : 0;
  return at < connections_.size() ? connections_[at].get() : -1;
}

void StarBootstrap::send_blob(Rank peer, std::string_view blob, const Deadline& deadline) {
  if (blob.size() > max_blob_bytes) {
    throw Error(ExitCode::run_failed, "a message of " + std::to_string(blob.size()) +
                                          " bytes between ranks exceeds the bootstrap's limit of " +
                                          std::to_string(max_blob_bytes));
  }
  check(send_all(connection(peer), encode_frame_header(blob.size()), deadline), peer);
  check(send_all(connection(peer), bytes_of(blob), deadline), peer);
}

std::string StarBootstrap::receive_blob(Rank peer, const Deadline& deadline) {
  FrameHeader header{};
  check(receive_all(connection(peer), header, deadline), peer);
  // The rest of a frame that has begun arrives soon.
  const Deadline rest = Deadline::earlier(deadline, Deadline::in(time_limit_));
  std::string blob(decode_frame_header(header), '\0');
  check(receive_all(connection(peer), std::as_writable_bytes(std::span(blob)), rest), peer);
  return blob;
}

void StarBootstrap::check(IoResult result, Rank peer) {
  if (result == IoResult::done) return;
  const std::string who = "rank " + std::to_string(peer);
  if (result == IoResult::timed_out) throw TimedOut(who + " has not answered within " + seconds_text(time_limit_));
  const std::string how = fate(peer);
  throw PeerLost(who + " " + (how.empty() ? "closed its connection" : how));
}

// Rank 0 may be reached over several interfaces: that of a rank on another host counts.
std::string StarBootstrap::address() const {
  std::string found;
  for (const FileDescriptor& connection : connections_) {
    if (!connection.open()) continue;
    found = numeric_host(local_address(connection.get()));
    if (!is_loopback_host(found)) break;
  }
  return found;
}

std::unique_ptr<Bootstrap> make_tcp_star(const Claim& self, std::vector<FileDescriptor> connections,
                                         std::chrono::nanoseconds time_limit) {
  for (const FileDescriptor& connection : connections) {
    if (connection.open()) prepare_connection(connection.get());
  }
  return std::make_unique<StarBootstrap>(self.rank, self.size, std::move(connections), time_limit);
}

}  // namespace chiplog
