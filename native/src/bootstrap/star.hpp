// The collective calls over sockets: every rank is connected with rank 0.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/frame.hpp"
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
  bool tell_failure(const Error& error) override;
  std::optional<Error> first_failure(const Error& error) override;

 protected:
  [[nodiscard]] std::chrono::nanoseconds time_limit() const { return time_limit_; }
  // After this all calls end in PeerLost, here and on the ranks at the other ends.
  void disconnect() { connections_.clear(); }

 private:
  [[nodiscard]] int connection(Rank peer) const;
  void send_frame(Rank peer, FrameKind kind, std::string_view blob, const Deadline& deadline);
  // The next blob; throws the peer's error where it has failed.
  std::string receive_blob(Rank peer, const Deadline& deadline);
  void check(IoResult result, Rank peer);
  std::string end_of(Rank peer);
  // The peers of whose connections `events` of poll() hold, as soon as there are some.
  [[nodiscard]] std::vector<Rank> peers_with(short events, std::chrono::nanoseconds limit) const;
  std::optional<Error> failure_told_by(Rank peer);
  [[nodiscard]] std::string ends_of(const std::vector<Rank>& lost);

  Rank rank_;
  int size_;
  std::vector<FileDescriptor> connections_;
  std::chrono::nanoseconds time_limit_;
};

// The ranks of a run that met over TCP, by the connections that a StarBootstrap takes.
std::unique_ptr<Bootstrap> make_tcp_star(const Claim& self, std::vector<FileDescriptor> connections,
                                         std::chrono::nanoseconds time_limit);

}  // namespace chiplog
