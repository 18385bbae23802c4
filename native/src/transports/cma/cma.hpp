// Messages between ranks of one host that are copied once, straight from one process into another, by the kernel.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "chiplog/contract.hpp"
#include "transports/aligned_buffer.hpp"
#include "transports/cma/permission.hpp"
#include "transports/cma/process_memory.hpp"
#include "transports/cma/window.hpp"
#include "transports/posted_to.hpp"
#include "transports/shm/channels.hpp"

namespace chiplog {

struct CmaOptions {
  // The longest message that goes through shared memory. At this size a system call costs about as much as copying the
  // message a second time.
  std::size_t eager_bytes = 4096;
};

namespace cma {

// Copies a message that stays with its sender from there.
struct Fetch {
  const Process& sender;

  void operator()(const std::byte* directions, std::byte* to, std::size_t bytes) const {
    Address address = 0;
    std::memcpy(&address, directions, sizeof address);
    read(sender, address, to, bytes);
  }
};

}  // namespace cma

// A message of up to `eager_bytes` goes as shm's do. Of a longer one the sender tells by the same flags where it is;
// the receiver copies it from there by process_vm_readv and says that it has (a rendezvous). So such a send returns
// when the message has been received, and two ranks that both send one before either receives wait for each other until
// the time limit. One-sided operations are process_vm_readv and process_vm_writev, complete when they return; the
// target takes no part.
class CmaTransport {
 public:
  using Buffer = AlignedBuffer<0>;
  using Window = cma::Window;
  using Transfer = chiplog::Transfer<Buffer, Window>;
  using Abilities = AbilityList<ability::Exchanges>;
  static constexpr std::string_view name = "cma";
  static constexpr std::size_t max_posted_sends = 1024;
  static constexpr std::size_t max_posted_operations = 1024;

  // Collective. Throws Error on all ranks if one of them can't reach the memory of another one.
  CmaTransport(Bootstrap& bootstrap, const CmaOptions& options, std::chrono::nanoseconds time_limit);

  [[nodiscard]] static constexpr Capabilities declared_capabilities() {
    return {
        .remote_write = true, .remote_read = true, .synchronises = true, .max_message_bytes = std::size_t{1} << 30U};
  }
  [[nodiscard]] Capabilities capabilities() const { return declared_capabilities(); }
  [[nodiscard]] std::string options_json() const;
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return Buffer(bytes); }

  void send(Rank peer, Buffer& buffer, std::size_t bytes) {
    shm::Sender& to = channels_.to(peer);
    if (bytes <= options_.eager_bytes) return to.send(buffer.data(), bytes);
    to.announce_to_fetch(buffer.data(), bytes);
    to.wait_until_fetched();
  }
  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    shm::Sender& to = channels_.to(peer);
    if (bytes <= options_.eager_bytes) return to.send(buffer.data(), bytes);
    to.announce_to_fetch(buffer.data(), bytes);
    announced_to_.add(peer);
  }
  void wait_sends() {
    announced_to_.wait_for_each([this](Rank peer) { channels_.to(peer).wait_until_fetched(); });
  }
  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    return channels_.from(peer).recv(buffer.data(), capacity_bytes, channels_.to(peer), cma::Fetch{process_of(peer)});
  }
  std::size_t exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
    if (bytes <= options_.eager_bytes) {
      return channels_.exchange(peer, out.data(), bytes, in.data(), capacity_bytes, cma::Fetch{process_of(peer)});
    }
    channels_.to(peer).announce_to_fetch(out.data(), bytes);
    const std::size_t received_bytes = recv(peer, in, capacity_bytes);
    channels_.to(peer).wait_until_fetched();
    return received_bytes;
  }

  [[nodiscard]] Window make_window(std::size_t bytes) const { return {*bootstrap_, bytes}; }
  void post_write(const Transfer& transfer) {
    cma::write(process_of(transfer.peer), target_of(transfer), source_of(transfer), transfer.bytes);
  }
  void post_read(const Transfer& transfer) {
    cma::read(process_of(transfer.peer), target_of(transfer), source_of(transfer), transfer.bytes);
  }
  void wait_operations() {}
  void progress() {}
  template <class Ready>
  void wait_until(Rank peer, Ready ready) {
    channels_.watch().wait_for_write(peer, ready);
  }

 private:
  [[nodiscard]] const cma::Process& process_of(Rank peer) const { return processes_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] static cma::Address target_of(const Transfer& transfer) {
    return transfer.window.at(transfer.peer, transfer.window_offset, transfer.bytes);
  }
  [[nodiscard]] static std::byte* source_of(const Transfer& transfer) {
    return transfer.buffer.data() + transfer.buffer_offset;
  }

  Bootstrap* bootstrap_;
  CmaOptions options_;
  cma::Consent consent_;
  shm::Channels channels_;
  std::vector<cma::Process> processes_;
  PostedTo announced_to_;
};

static_assert(TransportContract<CmaTransport>::holds);

}  // namespace chiplog
