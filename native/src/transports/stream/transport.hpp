// Two-sided messages over stream sockets, the same for every family of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chiplog/contract.hpp"
#include "transports/aligned_buffer.hpp"
#include "transports/stream/link.hpp"

namespace chiplog::stream {

// `Medium` has a `name`, `max_posted_sends` and `capabilities()`.
//
// `send` returns when the kernel has taken the message; it blocks while the kernel's buffers are full. Two ranks that
// both send more than those hold before either receives wait for each other until the time limit; `exchange` receives
// meanwhile.
template <class Medium>
class StreamTransport {
 public:
  using Buffer = AlignedBuffer<header_bytes>;
  using Abilities = AbilityList<ability::Exchanges>;
  static constexpr std::string_view name = Medium::name;
  static constexpr std::size_t max_posted_sends = Medium::max_posted_sends;

  // One socket a rank, in the order of the ranks, none for this one.
  StreamTransport(std::vector<FileDescriptor> connections, Waiting waiting, std::chrono::nanoseconds time_limit,
                  std::string options_json)
      : options_json_(std::move(options_json)) {
    links_.reserve(connections.size());
    for (std::size_t peer = 0; peer < connections.size(); ++peer) {
      links_.emplace_back(std::move(connections[peer]), static_cast<Rank>(peer), waiting, time_limit);
    }
  }

  [[nodiscard]] static constexpr Capabilities declared_capabilities() { return Medium::capabilities(); }
  [[nodiscard]] Capabilities capabilities() const { return declared_capabilities(); }
  [[nodiscard]] std::string options_json() const { return options_json_; }
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return Buffer(bytes); }

  void send(Rank peer, Buffer& buffer, std::size_t bytes) { link(peer).send(buffer.frame(), bytes); }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) { send(peer, buffer, bytes); }
  void wait_sends() {}
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return link(peer).recv(buffer.frame(), capacity_bytes);
  }
  std::size_t exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
    return link(peer).exchange(out.frame(), bytes, in.frame(), capacity_bytes);
  }

 private:
  Link& link(Rank peer) { return links_[static_cast<std::size_t>(peer)]; }

  std::vector<Link> links_;
  std::string options_json_;
};

}  // namespace chiplog::stream
