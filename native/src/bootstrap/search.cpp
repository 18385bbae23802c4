#include "bootstrap/search.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bootstrap/star.hpp"
#include "chiplog/error.hpp"
#include "core/small_file.hpp"

namespace chiplog {
namespace {

constexpr std::string_view file_kind = "chiplog-meeting/1";
constexpr std::size_t max_file_bytes = 64UL * 1024UL;
// One attempt: a host that is there answers at once, and a firewall may leave a call without an answer.
constexpr auto attempt_limit = std::chrono::seconds(3);
constexpr auto pause = std::chrono::milliseconds(50);

// An IPv6 socket that also takes IPv4 callers where the host has both, else an IPv4 socket.
FileDescriptor listen_on_all_interfaces(unsigned port) {
  try {
    return listen_at(resolve("::", port), [](int fd) {
      const int off = 0;
      setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    });
  } catch (const Error&) {
    return listen_at(resolve("0.0.0.0", port));
  }
}

FileDescriptor listen_at_first_free(unsigned first_port) {
  for (unsigned port = first_port;; ++port) {
    try {
      return listen_on_all_interfaces(port);
    } catch (const AddressRefused&) {
      if (port + 1 == first_port + search_ports) throw;
    }
  }
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family) continue;
      if ((one->ifa_flags & IFF_UP) == 0U || (one->ifa_flags & IFF_LOOPBACK) != 0U) continue;
      char name[NI_MAXHOST];
      const socklen_t bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      if (getnameinfo(one->ifa_addr, bytes, name, sizeof name, nullptr, 0, NI_NUMERICHOST) != 0) continue;
      const std::string text = name;
      if (text.find('%') == std::string::npos) found.push_back(text);  // an address of one link means nothing elsewhere
    }
  }
  if (found.empty()) found.emplace_back("127.0.0.1");
  return found;
}

// The places where rank 0 may listen, tried one after another until one proves to be it.
class Search {
 public:
  Search(const RendezvousSearch& where, const Membership& member)
      : where_(where), member_(member), deadline_(Deadline::in(member.time_limit)) {}

  FileDescriptor run() {
    const std::vector<std::string> hosts = known_hosts();
    for (;;) {
      for (const std::string& host : hosts) {
        if (try_ports_of(host)) return std::move(found_);
      }
      for (const RendezvousPoint& point : read_meeting_file(where_.file)) {
        if (attempt(point.host, point.port) == Outcome::found) return std::move(found_);
      }
      if (deadline_.passed()) throw_not_found();
      std::this_thread::sleep_for(pause);
    }
  }

 private:
  enum class Outcome { found, refused, silent };

  static std::vector<std::string> known_hosts() {
    std::vector<std::string> hosts{"127.0.0.1"};
    for (std::string& host : hosts_from_slurm(std::getenv)) hosts.push_back(std::move(host));
    return hosts;
  }

  // A host that does not answer at one port is not asked at the others.
  bool try_ports_of(const std::string& host) {
    for (unsigned port = where_.first_port; port < where_.first_port + search_ports; ++port) {
      switch (attempt(host, port)) {
        case Outcome::found:
          return true;
        case Outcome::silent:
          return false;
        case Outcome::refused:
          break;
      }
    }
    return false;
  }

  Outcome attempt(const std::string& host, unsigned port) {
    Membership once = member_;
    once.time_limit = std::min<std::chrono::nanoseconds>(member_.time_limit, attempt_limit);
    try {
      found_ = call_rank(resolve(host, port), once, Refusal::is_final);
      return Outcome::found;
    } catch (const TurnedAway&) {
      throw;
    } catch (const HostSilent& error) {
      note(error.what(), unanswered_);
      return Outcome::silent;
    } catch (const UsageError& error) {  // an unknown host
      note(error.what(), unanswered_);
      return Outcome::silent;
    } catch (const NobodyListens& error) {
      note(error.what(), unanswered_);
      return Outcome::refused;
    } catch (const Error& error) {
      note(error.what(), answered_);
      return Outcome::refused;
    }
  }

  static void note(const std::string& failure, std::vector<std::string>& failures) {
    if (failures.size() < max_failures && std::find(failures.begin(), failures.end(), failure) == failures.end()) {
      failures.push_back(failure);
    }
  }

  [[noreturn]] void throw_not_found() const {
    std::vector<std::string> failures = answered_;
    failures.insert(failures.end(), unanswered_.begin(), unanswered_.end());
    failures.resize(std::min(failures.size(), max_failures));
    std::string tried;
    for (const std::string& failure : failures) tried += (tried.empty() ? "" : "; ") + failure;
    std::string sentence = "rank 0 was not found within " + seconds_text(member_.time_limit);
    if (!where_.file.empty() && read_meeting_file(where_.file).empty()) {
      tried += (tried.empty() ? "" : "; ") + where_.file + " was not there";
    }
    throw TimedOut(
        sentence + " (" + tried +
        "): name its host and a free port with --rendezvous HOST:PORT, or a folder that all hosts share with "
        "CHIPLOG_MEETING_FOLDER");
  }

  static constexpr std::size_t max_failures = 4;

  const RendezvousSearch& where_;
  const Membership& member_;
  Deadline deadline_;
  FileDescriptor found_;
  // What failed, each told once. Where something answered comes first: who begins before rank 0 listens finds nobody at
  // first.
  std::vector<std::string> answered_;
  std::vector<std::string> unanswered_;
};

}  // namespace

std::string first_host(std::string_view slurm_list) {
  std::string host;
  for (std::size_t i = 0; i < slurm_list.size() && slurm_list[i] != ','; ++i) {
    if (slurm_list[i] != '[') {
      host += slurm_list[i];
      continue;
    }
    const std::size_t end = slurm_list.find_first_of("-,]", i + 1);
    host += slurm_list.substr(i + 1, end == std::string_view::npos ? end : end - i - 1);
    i = slurm_list.find(']', i);
    if (i == std::string_view::npos) break;
  }
  return host;
}

std::vector<std::string> hosts_from_slurm(const Environment& environment) {
  std::vector<std::string> hosts;
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    const char* list = environment(name);
    if (list == nullptr) continue;
    const std::string host = first_host(list);
    if (!host.empty() && std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  }
  return hosts;
}

MeetingFile::MeetingFile(std::string path, unsigned port) : path_(std::move(path)) {
  std::string text = std::string(file_kind) + "\n";
  for (const std::string& address : own_addresses()) text += address + " " + std::to_string(port) + "\n";
  const std::string draft = path_ + ".new";
  if (!is_replaceable(path_) || !is_replaceable(draft)) {
    throw Error(ExitCode::run_failed, "can't write " + path_ + ": it is no regular file");
  }
  {
    std::ofstream file(draft, std::ios::trunc);
    file << text;
    if (!file.flush() || std::rename(draft.c_str(), path_.c_str()) != 0) {
      const int error = errno;
      std::remove(draft.c_str());
      throw Error(ExitCode::run_failed, "can't write " + path_ + ": " + system_error_text(error));
    }
  }
}

MeetingFile::~MeetingFile() { std::remove(path_.c_str()); }

std::vector<RendezvousPoint> read_meeting_file(const std::string& path) {
  std::vector<RendezvousPoint> points;
  if (path.empty()) return points;
  std::istringstream file;
  try {
    file.str(read_small_file(path, max_file_bytes));
  } catch (const std::runtime_error&) {
    return points;  // a file of nothing, or of another kind
  }
  std::string line;
  if (!std::getline(file, line) || line != file_kind) return points;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    RendezvousPoint point;
    if (words >> point.host >> point.port && point.port != 0) points.push_back(point);
  }
  return points;
}

std::unique_ptr<Bootstrap> make_searching_bootstrap(const RendezvousSearch& where, Rank rank, int size,
                                                    std::string_view secret, std::chrono::nanoseconds time_limit) {
  check_membership(rank, size, secret);
  const Membership member{{rank, size}, secret, time_limit};
  if (rank != 0) {
    std::vector<FileDescriptor> connections;
    connections.push_back(Search(where, member).run());
    return make_tcp_star(member.self, std::move(connections), time_limit);
  }
  const FileDescriptor listener = listen_at_first_free(where.first_port);
  std::optional<MeetingFile> file;
  if (!where.file.empty() && size > 1) {
    try {
      file.emplace(where.file, port_of(local_address(listener.get())));
    } catch (const Error&) {
      // A folder that this host can't write to leaves the other ways.
    }
  }
  return make_tcp_star(member.self, await_callers(listener, member), time_limit);
}

}  // namespace chiplog
