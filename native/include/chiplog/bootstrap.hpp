// How the ranks of one run find each other and agree; separate from what is measured, never on a timed path.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chiplog/error.hpp"
#include "chiplog/transport.hpp"

namespace chiplog {

// Collective calls: every rank makes the same calls in the same order. Each waits at most the time limit that the
// implementation was made with, then throws TimedOut; a rank that is gone ends in PeerLost. Lengths that arrive are
// checked against `max_blob_bytes` before anything is allocated.
class Bootstrap {
 public:
  static constexpr std::size_t max_blob_bytes = std::size_t{64} << 20;

  virtual ~Bootstrap() = default;
  [[nodiscard]] virtual Rank rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  // The blob of rank 0, on every rank.
  virtual std::string broadcast(std::string_view blob) = 0;
  // On rank 0 the blobs of all ranks in the order of the ranks; empty elsewhere.
  virtual std::vector<std::string> gather(std::string_view blob) = 0;
  // The blobs of all ranks, on every rank.
  std::vector<std::string> all_gather(std::string_view blob);
  virtual void barrier() = 0;
  // The node that this rank is on: `identity` is equal on the ranks of one node and on no others.
  struct Node {
    std::string name;
    std::string identity;
  };
  // By default a node is the host that the process sees; an implementation may know better.
  virtual Node node();
  // The numeric address of this host at which the ranks of other hosts reach it, as far as this bootstrap's own
  // connections tell: a loopback address where all are on one host, empty where there are no such connections.
  [[nodiscard]] virtual std::string address() const { return {}; }
  // Describes how the process of a lost rank ended, such as "was killed by signal 9 (Killed)"; empty if that is not
  // known. Blocks for a moment at most.
  virtual std::string fate(Rank /*peer*/) { return {}; }

  // Where one rank fails, others fail because of it. These two let rank 0 say what came first.
  // On the other ranks, before the process ends: tells rank 0 the error and waits until rank 0 has ended, for some
  // seconds at most, so that this end is not taken for the cause. False if rank 0 may not have heard of it.
  virtual bool tell_failure(const Error& /*error*/) { return false; }
  // On rank 0: the error that `error` follows from: another rank's, or the loss of one. Empty where no other is known.
  // Blocks for a moment at most. What other ranks have sent and nobody has read is gone.
  virtual std::optional<Error> first_failure(const Error& /*error*/) { return std::nullopt; }
};

}  // namespace chiplog
