#include "bootstrap/star.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>
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
// A process that is killed closes its connections one by one, and so do the ranks of a node.
constexpr std::chrono::milliseconds first_end_patience(500);
constexpr std::chrono::milliseconds further_ends_patience(100);
constexpr std::size_t most_ends_told = 4;
// Rank 0 notices a loss at the latest when it waits for the answer of the lost rank.
constexpr std::chrono::seconds rank_0_patience(3);

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
  if (result == IoResult::timed_out)
    throw TimedOut("rank " + std::to_string(peer) + " has not answered within " + seconds_text(time_limit_));
  throw PeerLost(end_of(peer));
}

std::string StarBootstrap::end_of(Rank peer) {
  const std::string how = fate(peer);
  return "rank " + std::to_string(peer) + " " + (how.empty() ? "closed its connection" : how);
}

// The ranks of a node end together, though not at once. What they sent before may not have been read yet.
std::string StarBootstrap::who_is_lost() {
  if (closed_within(first_end_patience).empty()) return {};
  std::this_thread::sleep_for(further_ends_patience);
  const std::vector<Rank> lost = closed_within(std::chrono::nanoseconds(0));
  std::string text;
  for (std::size_t i = 0; i < std::min(lost.size(), most_ends_told); ++i) {
    text += (text.empty() ? "" : ", ") + end_of(lost[i]);
  }
  if (lost.size() > most_ends_told) text += " and so on, " + std::to_string(lost.size()) + " ranks in all";
  return text;
}

bool StarBootstrap::await_end_of_rank_0() { return !closed_within(rank_0_patience).empty(); }

std::vector<Rank> StarBootstrap::closed_within(std::chrono::nanoseconds limit) const {
  const Deadline deadline = Deadline::in(limit);
  std::vector<pollfd> ends;
  for (Rank peer = 0; peer < (rank_ == root ? size_ : 1); ++peer) ends.push_back({connection(peer), POLLRDHUP, 0});
  while (poll(ends.data(), ends.size(), deadline.poll_timeout_ms()) < 0 && errno == EINTR) continue;
  std::vector<Rank> closed;
  for (std::size_t peer = 0; peer < ends.size(); ++peer) {
    if (ends[peer].fd < 0 ? rank_ != root : ends[peer].revents != 0) closed.push_back(static_cast<Rank>(peer));
  }
  return closed;
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
