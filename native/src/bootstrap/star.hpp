// The collective calls over sockets: every rank is connected with rank 0.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/handshake.hpp"
#include "bootstrap/socket.hpp"
#include "chiplog/bootstrap.hpp"

namespace chiplog {

// Rank 0 may be silent for as long as its requests take to come, so the others wait for its next broadcast without a
// limit (they notice its end by the closed connection). All other waiting is limited.
class StarBootstrap : public Bootstrap {
 public:
  // On rank 0 one stream socket per rank, in the order of ranks (that of rank 0 is unused); elsewhere one, to rank 0.
  StarBootstrap(Rank rank, int size, std::vector<FileDescriptor> connections, std::chrono::nanoseconds time_limit);

  [[nodiscard]] Rank rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  std::string broadcast(std::string_view blob) override;
  std::vector<std::string> gather(std::string_view blob) override;
  void barrier() override;
  [[nodiscard]] std::string address() const override;
  std::string who_is_lost() override;
  bool await_end_of_rank_0() override;

 protected:
  [[nodiscard]] std::chrono::nanoseconds time_limit() const { return time_limit_; }
  // After this all calls end in PeerLost, here and on the ranks at the other ends.
  void disconnect() { connections_.clear(); }

 private:
  [[nodiscard]] int connection(Rank peer) const;
  void send_blob(Rank peer, std::string_view blob, const Deadline& deadline);
  std::string receive_blob(Rank peer, const Deadline& deadline);
  void check(IoResult result, Rank peer);
  std::string end_of(Rank peer);
  // The ranks whose connections the other end has closed, as soon as there are some.
  [[nodiscard]] std::vector<Rank> closed_within(std::chrono::nanoseconds limit) const;

  Rank rank_;
  int size_;
  std::vector<FileDescriptor> connections_;
  std::chrono::nanoseconds time_limit_;
};

// The ranks of a run that met over TCP, by the connections that a StarBootstrap takes.
std::unique_ptr<Bootstrap> make_tcp_star(const Claim& self, std::vector<FileDescriptor> connections,
                                         std::chrono::nanoseconds time_limit);

}  // namespace chiplog
