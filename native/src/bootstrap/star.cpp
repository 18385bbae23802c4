#include "bootstrap/star.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <thread>
#include <utility>

#include "bootstrap/meeting.hpp"
#include "chiplog/error.hpp"
#include "core/failures.hpp"

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
// How long rank 0 waits for word of what explains an error, and for the other ranks of a node that is lost.
constexpr std::chrono::milliseconds first_patience(500);
constexpr std::chrono::milliseconds further_patience(100);
// A rank that waits for a silent one notices it somewhat later than rank 0 would, which waits for both.
constexpr std::chrono::milliseconds told_patience(500);
constexpr std::size_t most_losses_told = 4;
// Rank 0 may be busy with an operation that ends by this error only.
constexpr std::chrono::seconds root_patience(3);

}  // namespace

StarBootstrap::StarBootstrap(Rank rank, int size, std::vector<FileDescriptor> connections,
                             std::chrono::nanoseconds time_limit)
    : rank_(rank), size_(size), connections_(std::move(connections)), time_limit_(time_limit) {}

std::string StarBootstrap::broadcast(std::string_view blob) {
  if (rank_ != root) return receive_blob(root, Deadline::never());
  const Deadline deadline = Deadline::in(time_limit_);
  for (Rank peer = 1; peer < size_; ++peer) send_frame(peer, FrameKind::blob, blob, deadline);
  return std::string(blob);
}

// The rank that sends or ends first is served first, so that a loss is noticed at once even behind a slow rank.
std::vector<std::string> StarBootstrap::gather(std::string_view blob) {
  if (rank_ != root) {
    send_frame(root, FrameKind::blob, blob, Deadline::in(time_limit_));
    return {};
  }
  const Deadline deadline = Deadline::in(time_limit_ + told_patience);
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

void StarBootstrap::send_frame(Rank peer, FrameKind kind, std::string_view blob, const Deadline& deadline) {
  if (blob.size() > max_blob_bytes) {
    throw Error(ExitCode::run_failed, "a message of " + std::to_string(blob.size()) +
                                          " bytes between ranks exceeds the bootstrap's limit of " +
                                          std::to_string(max_blob_bytes));
  }
  check(send_all(connection(peer), encode_frame_header({kind, blob.size()}), deadline), peer);
  check(send_all(connection(peer), bytes_of(blob), deadline), peer);
}

std::string StarBootstrap::receive_blob(Rank peer, const Deadline& deadline) {
  FrameHeader header{};
  check(receive_all(connection(peer), header, deadline), peer);
  // The rest of a frame that has begun arrives soon.
  const Deadline rest = Deadline::earlier(deadline, Deadline::in(time_limit_));
  const Frame frame = decode_frame_header(header);
  std::string blob(frame.bytes, '\0');
  check(receive_all(connection(peer), std::as_writable_bytes(std::span(blob)), rest), peer);
  if (frame.kind == FrameKind::failure) throw unpack_failure(blob, name_of(peer));
  return blob;
}

void StarBootstrap::check(IoResult result, Rank peer) {
  if (result == IoResult::done) return;
  if (result == IoResult::timed_out) {
    throw TimedOut(name_of(peer) + " has not answered within " + seconds_text(time_limit_), peer);
  }
  throw PeerLost(end_of(peer), peer);
}

std::string StarBootstrap::end_of(Rank peer) {
  const std::string how = fate(peer);
  return name_of(peer) + " " + (how.empty() ? "closed its connection" : how);
}

bool StarBootstrap::tell_failure(const Error& error) {
  if (rank_ == root) return false;
  try {
    send_frame(root, FrameKind::failure, pack_failure(error), Deadline::in(root_patience));
  } catch (const Error&) {
    return true;  // rank 0 has ended before
  }
  return !peers_with(POLLRDHUP, root_patience).empty();
}

// A rank that fails tells why and keeps its connection, so one that closes it was lost. Otherwise the ranks are
// followed from each to the one that it blames, up to one that has a reason of its own, or says nothing.
std::optional<Error> StarBootstrap::first_failure(const Error& error) {
  if (rank_ != root || peers_with(POLLIN | POLLRDHUP, first_patience).empty()) return std::nullopt;
  std::this_thread::sleep_for(further_patience);  // the ranks of a node are lost together, though not at once
  std::map<Rank, Error> told;
  for (const Rank peer : peers_with(POLLIN, std::chrono::nanoseconds(0))) {
    if (const auto failure = failure_told_by(peer)) told.emplace(peer, *failure);
  }
  const std::vector<Rank> lost = peers_with(POLLRDHUP, std::chrono::nanoseconds(0));
  if (!lost.empty()) return PeerLost(ends_of(lost), lost.front());
  std::optional<Error> first;
  for (auto cause = error.cause(); cause; cause = first->cause()) {
    const auto next = told.extract(*cause);
    if (next.empty()) break;
    first = next.mapped();
  }
  return first;
}

std::string StarBootstrap::ends_of(const std::vector<Rank>& lost) {
  std::string text;
  for (std::size_t i = 0; i < std::min(lost.size(), most_losses_told); ++i) {
    text += (text.empty() ? "" : ", ") + end_of(lost[i]);
  }
  if (lost.size() > most_losses_told) text += " and so on, " + std::to_string(lost.size()) + " ranks in all";
  return text;
}

// What the peer sent before it failed is of no use any more.
std::optional<Error> StarBootstrap::failure_told_by(Rank peer) {
  try {
    while (true) receive_blob(peer, Deadline::in(std::chrono::milliseconds(0)));
  } catch (const PeerLost&) {
    return std::nullopt;
  } catch (const TimedOut&) {
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

std::vector<Rank> StarBootstrap::peers_with(short events, std::chrono::nanoseconds limit) const {
  const Deadline deadline = Deadline::in(limit);
  std::vector<pollfd> peers;
  for (Rank peer = 0; peer < (rank_ == root ? size_ : 1); ++peer) peers.push_back({connection(peer), events, 0});
  while (poll(peers.data(), peers.size(), deadline.poll_timeout_ms()) < 0 && errno == EINTR) continue;
  std::vector<Rank> found;
  for (Rank peer = 0; const pollfd& one : peers) {
    if (one.revents != 0) found.push_back(peer);
    ++peer;
  }
  return found;
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
