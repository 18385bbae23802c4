// A network between two ranks that loses, doubles and reorders datagrams: a process that passes them on, or doesn't.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <random>
#include <vector>

#include "bootstrap/meeting.hpp"
#include "bootstrap/socket.hpp"

namespace chiplog::testing {

// Shares of the datagrams. What is reordered goes out behind the next one of its direction.
struct Faults {
  double lost = 0.0;
  double duplicated = 0.0;
  double reordered = 0.0;
};

inline FileDescriptor loopback_datagram_socket() {
  FileDescriptor fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress any = resolve("127.0.0.1", 0);
  if (bind(fd.get(), any.get(), static_cast<socklen_t>(any.bytes.size())) != 0) throw std::runtime_error("no socket");
  return fd;
}

inline void connect_to_port(const FileDescriptor& fd, unsigned port) {
  const SocketAddress there = resolve("127.0.0.1", port);
  if (connect(fd.get(), there.get(), static_cast<socklen_t>(there.bytes.size())) != 0) {
    throw std::runtime_error("no connection");
  }
}

// Runs until it is destroyed, or its parent ends. The same faults in every run.
class LossyRelay {
 public:
  // `ports` are those of the two ranks; theirs must be connected to `port_for(rank)`.
  LossyRelay(const std::array<unsigned, 2>& ports, const Faults& faults) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      sockets_[rank] = loopback_datagram_socket();
      connect_to_port(sockets_[rank], ports[rank]);
    }
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("no process");
    if (process_ == 0) pass_on(faults);
  }
  LossyRelay(const LossyRelay&) = delete;
  LossyRelay& operator=(const LossyRelay&) = delete;
  ~LossyRelay() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }

  [[nodiscard]] unsigned port_for(std::size_t rank) const { return port_of(local_address(sockets_[rank].get())); }

 private:
  [[noreturn]] void pass_on(const Faults& faults) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> share(0.0, 1.0);
    std::vector<char> datagram(65536);
    std::array<std::vector<char>, 2> held;
    for (;;) {
      std::array<pollfd, 2> ready{{{sockets_[0].get(), POLLIN, 0}, {sockets_[1].get(), POLLIN, 0}}};
      poll(ready.data(), ready.size(), -1);
      for (std::size_t from = 0; from < 2; ++from) {
        if (ready[from].revents == 0) continue;
        const ssize_t bytes = recv(sockets_[from].get(), datagram.data(), datagram.size(), MSG_DONTWAIT);
        if (bytes < 0 || share(random) < faults.lost) continue;
        const int to = sockets_[1 - from].get();
        if (held[from].empty() && share(random) < faults.reordered) {
          held[from].assign(datagram.data(), datagram.data() + bytes);
          continue;
        }
        send(to, datagram.data(), static_cast<std::size_t>(bytes), 0);
        if (share(random) < faults.duplicated) send(to, datagram.data(), static_cast<std::size_t>(bytes), 0);
        if (held[from].empty()) continue;
        send(to, held[from].data(), held[from].size(), 0);
        held[from].clear();
      }
    }
  }

  std::array<FileDescriptor, 2> sockets_;
  pid_t process_ = -1;
};

}  // namespace chiplog::testing
