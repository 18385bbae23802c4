#include "bootstrap/meeting.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "chiplog/error.hpp"
#include "core/error_text.hpp"

namespace chiplog {
namespace {

constexpr auto retry_after = std::chrono::milliseconds(20);
constexpr int backlog = 1024;
constexpr std::string_view same_secret =
    "all ranks need the same CHIPLOG_SECRET and addresses that no relay translates";

void set_blocking(int fd, bool blocking) {
  const int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

SocketAddress copy_of(const sockaddr* address, std::size_t bytes) {
  SocketAddress copy;
  copy.family = address->sa_family;
  copy.bytes.resize(bytes);
  std::memcpy(copy.bytes.data(), address, bytes);
  return copy;
}

// What both ends of a connection call one of them: an Internet address without the interface, which each host names as
// it likes, or the bytes of another family's. Empty where the connection is gone.
std::string end_name(int fd, decltype(&getsockname) ask) {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  if (ask(fd, reinterpret_cast<sockaddr*>(&storage), &bytes) != 0) return {};
  const SocketAddress address = copy_of(reinterpret_cast<const sockaddr*>(&storage), bytes);
  const std::string host = numeric_host(address);
  if (host.empty()) return {reinterpret_cast<const char*>(&storage), bytes};
  return host.substr(0, host.find('%')) + " " + std::to_string(port_of(address));
}

std::string listeners_key(int fd, std::string_view secret) {
  return connection_key(secret, end_name(fd, getsockname), end_name(fd, getpeername));
}

std::string callers_key(int fd, std::string_view secret) {
  return connection_key(secret, end_name(fd, getpeername), end_name(fd, getsockname));
}

std::string numeric_name(const SocketAddress& address) {
  char host[NI_MAXHOST];
  char service[NI_MAXSERV];
  if (getnameinfo(address.get(), static_cast<socklen_t>(address.bytes.size()), host, sizeof host, service,
                  sizeof service, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unnamed address";
  }
  return address.family == AF_INET6 ? "[" + std::string(host) + "]:" + service : std::string(host) + ":" + service;
}

// 0 once connected, otherwise the error number.
int connect_before(int fd, const SocketAddress& address, const Deadline& deadline) {
  set_blocking(fd, false);
  int error = connect(fd, address.get(), static_cast<socklen_t>(address.bytes.size())) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EINTR) {
    pollfd entry{fd, POLLOUT, 0};
    int ready = 0;
    do {
      ready = poll(&entry, 1, deadline.poll_timeout_ms());
    } while ((ready < 0 && errno == EINTR) || (ready == 0 && !deadline.passed()));
    socklen_t length = sizeof error;
    if (ready == 0) return ETIMEDOUT;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  }
  set_blocking(fd, true);
  return error;
}

// A caller that keeps trying a port of the ephemeral range may connect to itself there.
bool is_own_peer(int fd) {
  sockaddr_storage here{};
  sockaddr_storage there{};
  socklen_t here_bytes = sizeof here;
  socklen_t there_bytes = sizeof there;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&here), &here_bytes) == 0 && here.ss_family != AF_UNIX &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&there), &there_bytes) == 0 && here_bytes == there_bytes &&
         std::memcmp(&here, &there, here_bytes) == 0;
}

bool nobody_listens(int error) { return error == ECONNREFUSED || error == ENOENT || error == EAGAIN; }

FileDescriptor connect_to(const SocketAddress& address, Refusal refusal, const Deadline& deadline,
                          std::chrono::nanoseconds time_limit, const PrepareSocket& prepare) {
  for (;;) {
    FileDescriptor fd = open_socket(address.family, SOCK_STREAM);
    if (prepare) prepare(fd.get());
    int error = connect_before(fd.get(), address, deadline);
    if (error == 0 && is_own_peer(fd.get())) error = ECONNREFUSED;
    if (error == 0) return fd;
    if (error == ETIMEDOUT) {
      throw HostSilent("no connection with " + address.name + " within " + seconds_text(time_limit) + ": " +
                       system_error_text(error));
    }
    if (error == EHOSTUNREACH || error == ENETUNREACH) {
      throw HostSilent("can't connect to " + address.name + ": " + system_error_text(error));
    }
    if (nobody_listens(error) && refusal == Refusal::may_pass && deadline.passed()) {
      throw TimedOut("no connection with " + address.name + " within " + seconds_text(time_limit) + ": " +
                     system_error_text(error));
    }
    const std::string failure = "can't connect to " + address.name + ": " + system_error_text(error);
    if (!nobody_listens(error)) throw Error(ExitCode::run_failed, failure);
    if (refusal == Refusal::is_final) throw NobodyListens(failure);
    fd.reset();
    std::this_thread::sleep_for(retry_after);
  }
}

void check_handshake(IoResult result, const SocketAddress& address, std::chrono::nanoseconds time_limit) {
  if (result == IoResult::timed_out) {
    throw TimedOut("what listens at " + address.name + " has not finished the handshake within " +
                   seconds_text(time_limit));
  }
  if (result == IoResult::closed) {
    throw PeerLost("what listens at " + address.name + " closed the connection during the handshake");
  }
}

[[noreturn]] void throw_not_a_rank(const SocketAddress& address) {
  throw Corrupt("what listens at " + address.name + " is not a rank of this program");
}

[[noreturn]] void throw_turned_away(Judgement judgement, const SocketAddress& address, const Claim& self) {
  const std::string who = "rank " + std::to_string(self.rank) + " of " + std::to_string(self.size);
  const std::string what = address.name + " turned " + who + " away: ";
  if (judgement == Judgement::wrong_size) throw TurnedAway(what + "it expects another number of ranks");
  if (judgement == Judgement::wrong_rank) throw TurnedAway(what + "there is another process of this rank");
  throw Error(ExitCode::run_failed, "wrong secret: " + what + std::string(same_secret));
}

// A peer that has connected but not yet proved its identity.
struct Visitor {
  FileDescriptor fd;
  Challenge challenge;
  std::array<std::byte, Answer::bytes> received{};
  std::size_t received_bytes = 0;
  Deadline deadline;
};

enum class Progress { waits, leaves, has_answered };

// The listener's side. It serves all callers at the same time, so that none makes others wait.
class Reception {
 public:
  Reception(const FileDescriptor& listener, const Membership& member)
      : listener_(listener),
        member_(member),
        deadline_(Deadline::in(member.time_limit)),
        members_(static_cast<std::size_t>(member.self.size)),
        missing_(member.self.size - 1 - member.self.rank) {
    set_blocking(listener.get(), false);
  }

  std::vector<FileDescriptor> run() {
    while (missing_ > 0) {
      if (deadline_.passed()) throw_incomplete();
      wait();
      serve_visitors();
      welcome_newcomers();
    }
    return std::move(members_);
  }

 private:
  static constexpr std::size_t max_visitors = 256;
  static constexpr auto visitor_patience = std::chrono::seconds(10);

  void wait() {
    std::vector<pollfd> entries{{listener_.get(), POLLIN, 0}};
    Deadline deadline = deadline_;
    for (const Visitor& visitor : visitors_) {
      entries.push_back({visitor.fd.get(), POLLIN, 0});
      deadline = Deadline::earlier(deadline, visitor.deadline);
    }
    if (poll(entries.data(), entries.size(), deadline.poll_timeout_ms()) < 0 && errno != EINTR) {
      throw Error(ExitCode::run_failed, "poll failed: " + system_error_text(errno));
    }
  }

  // Drops the caller that has been silent for longest to make room for a new one.
  void welcome_newcomers() {
    for (;;) {
      FileDescriptor fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd.open() && is_shortage(errno)) {
        throw Error(ExitCode::run_failed, "can't accept another rank's connection: " + system_error_text(errno));
      }
      if (!fd.open()) return;
      if (visitors_.size() == max_visitors) visitors_.erase(visitors_.begin());
      Visitor visitor{std::move(fd), {make_nonce()}, {}, 0, Deadline::in(visitor_patience)};
      // An empty socket buffer always has room for these few bytes.
      if (send_all(visitor.fd.get(), encode(visitor.challenge), Deadline::in({})) != IoResult::done) continue;
      visitors_.push_back(std::move(visitor));
    }
  }

  void serve_visitors() {
    std::vector<Visitor> remaining;
    for (Visitor& visitor : visitors_) {
      switch (listen_to(visitor)) {
        case Progress::waits:
          remaining.push_back(std::move(visitor));
          break;
        case Progress::has_answered:
          judge(visitor);
          break;
        case Progress::leaves:
          break;
      }
    }
    visitors_ = std::move(remaining);
  }

  static Progress listen_to(Visitor& visitor) {
    while (visitor.received_bytes < visitor.received.size()) {
      const ssize_t count = recv(visitor.fd.get(), visitor.received.data() + visitor.received_bytes,
                                 visitor.received.size() - visitor.received_bytes, MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return visitor.deadline.passed() ? Progress::leaves : Progress::waits;
      }
      if (count <= 0) return Progress::leaves;
      visitor.received_bytes += static_cast<std::size_t>(count);
    }
    return Progress::has_answered;
  }

  void judge(Visitor& visitor) {
    const std::optional<Answer> answer = decode_answer(visitor.received);
    if (!answer) return;
    const std::string key = listeners_key(visitor.fd.get(), member_.secret);
    if (!is_proven(*answer, visitor.challenge, key)) {
      ++wrong_secrets_;
      tell(visitor, {Judgement::wrong_secret, {}});
      return;
    }
    const auto tell_judgement = [&](Judgement judgement) {
      return tell(visitor, verdict_on(*answer, judgement, visitor.challenge, key));
    };
    const Claim claim = answer->claim;
    if (claim.size != member_.self.size) {
      tell_judgement(Judgement::wrong_size);
      throw Error(ExitCode::run_failed, "rank " + std::to_string(claim.rank) + " was started as one of " +
                                            std::to_string(claim.size) + " ranks, rank " +
                                            std::to_string(member_.self.rank) + " as one of " +
                                            std::to_string(member_.self.size));
    }
    if (claim.rank <= member_.self.rank || claim.rank >= claim.size || member_at(claim.rank).open()) {
      tell_judgement(Judgement::wrong_rank);
      throw Error(ExitCode::run_failed, "two processes say that they are rank " + std::to_string(claim.rank));
    }
    if (!tell_judgement(Judgement::accepted)) return;
    set_blocking(visitor.fd.get(), true);
    member_at(claim.rank) = std::move(visitor.fd);
    --missing_;
  }

  static bool tell(const Visitor& visitor, const Verdict& verdict) {
    return send_all(visitor.fd.get(), encode(verdict), Deadline::in({})) == IoResult::done;
  }

  FileDescriptor& member_at(Rank rank) { return members_[static_cast<std::size_t>(rank)]; }

  [[noreturn]] void throw_incomplete() {
    std::string absent;
    for (Rank rank = member_.self.rank + 1; rank < member_.self.size; ++rank) {
      if (!member_at(rank).open()) absent += (absent.empty() ? "" : ", ") + std::to_string(rank);
    }
    std::string sentence = "no connection from rank " + absent + " within " + seconds_text(member_.time_limit);
    if (wrong_secrets_ > 0) {
      sentence +=
          "; a wrong secret was offered " + std::to_string(wrong_secrets_) + " times: " + std::string(same_secret);
    }
    throw TimedOut(sentence);
  }

  const FileDescriptor& listener_;
  const Membership& member_;
  Deadline deadline_;
  std::vector<FileDescriptor> members_;
  std::vector<Visitor> visitors_;
  int missing_;
  int wrong_secrets_ = 0;
};

}  // namespace

FileDescriptor open_socket(int family, int type) {
  FileDescriptor fd(socket(family, type | SOCK_CLOEXEC, 0));
  if (!fd.open()) throw Error(ExitCode::run_failed, "can't open a socket: " + system_error_text(errno));
  return fd;
}

SocketAddress resolve(const std::string& host, unsigned port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error == EAI_SYSTEM && is_shortage(errno)) {
    throw Error(ExitCode::run_failed, "can't look up host '" + host + "': " + system_error_text(errno));
  }
  if (error != 0) throw UsageError("unknown host '" + host + "': " + gai_strerror(error));
  SocketAddress address = copy_of(found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  address.name = numeric_name(address);
  return address;
}

SocketAddress local_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    throw Error(ExitCode::run_failed, "getsockname failed: " + system_error_text(errno));
  }
  SocketAddress address = copy_of(reinterpret_cast<const sockaddr*>(&storage), length);
  address.name = numeric_name(address);
  return address;
}

unsigned port_of(const SocketAddress& address) {
  if (address.family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(address.get())->sin_port);
  if (address.family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_port);
  return 0;
}

std::string numeric_host(const SocketAddress& address) {
  if (address.family != AF_INET && address.family != AF_INET6) return {};
  char host[NI_MAXHOST];
  if (getnameinfo(address.get(), static_cast<socklen_t>(address.bytes.size()), host, sizeof host, nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return {};
  }
  constexpr std::string_view mapped = "::ffff:";
  const std::string_view text = host;
  return std::string(text.starts_with(mapped) ? text.substr(mapped.size()) : text);
}

bool is_loopback_host(std::string_view numeric_host) {
  return numeric_host.starts_with("127.") || numeric_host == "::1";
}

FileDescriptor listen_at(const SocketAddress& address, const PrepareSocket& prepare) {
  FileDescriptor fd = open_socket(address.family, SOCK_STREAM);
  const int on = 1;
  if (address.family != AF_UNIX) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (prepare) prepare(fd.get());
  if (bind(fd.get(), address.get(), static_cast<socklen_t>(address.bytes.size())) != 0 ||
      listen(fd.get(), backlog) != 0) {
    throw AddressRefused("can't listen at " + address.name + ": " + system_error_text(errno));
  }
  return fd;
}

FileDescriptor call_rank(const SocketAddress& address, const Membership& member, Refusal refusal,
                         const PrepareSocket& prepare) {
  const Deadline deadline = Deadline::in(member.time_limit);
  FileDescriptor fd = connect_to(address, refusal, deadline, member.time_limit, prepare);

  std::array<std::byte, Challenge::bytes> challenge_bytes{};
  check_handshake(receive_all(fd.get(), challenge_bytes, deadline), address, member.time_limit);
  const std::optional<Challenge> challenge = decode_challenge(challenge_bytes);
  if (!challenge) throw_not_a_rank(address);

  const std::string key = callers_key(fd.get(), member.secret);
  const Answer answer = answer_to(*challenge, member.self, make_nonce(), key);
  check_handshake(send_all(fd.get(), encode(answer), deadline), address, member.time_limit);

  std::array<std::byte, Verdict::bytes> verdict_bytes{};
  check_handshake(receive_all(fd.get(), verdict_bytes, deadline), address, member.time_limit);
  const std::optional<Verdict> verdict = decode_verdict(verdict_bytes);
  if (!verdict) throw_not_a_rank(address);
  if (verdict->judgement != Judgement::wrong_secret && !is_proven(*verdict, answer, *challenge, key)) {
    throw Error(ExitCode::run_failed, "wrong secret: what listens at " + address.name + " doesn't know it");
  }
  if (verdict->judgement != Judgement::accepted) throw_turned_away(verdict->judgement, address, member.self);
  return fd;
}

std::vector<FileDescriptor> await_callers(const FileDescriptor& listener, const Membership& member) {
  return Reception(listener, member).run();
}

}  // namespace chiplog
