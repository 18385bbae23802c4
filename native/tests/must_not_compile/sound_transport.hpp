// A transport that compiles, for programs that add one fault to it.
#pragma once

#include <string>
#include <vector>

#include "chiplog/contract.hpp"

struct SoundBuffer {
  std::byte* data();
  std::size_t capacity() const;
};

struct SoundTransport {
  using Buffer = SoundBuffer;
  using Abilities = chiplog::AbilityList<>;
  static constexpr std::string_view name = "sound";
  static constexpr std::size_t max_posted_sends = 1;
  static constexpr chiplog::Capabilities declared_capabilities() { return {}; }
  chiplog::Capabilities capabilities() const;
  std::string options_json() const;
  Buffer make_buffer(std::size_t bytes);
  void send(chiplog::Rank peer, Buffer& buffer, std::size_t bytes);
  void post_send(chiplog::Rank peer, Buffer& buffer, std::size_t bytes);
  void wait_sends();
  std::size_t recv(chiplog::Rank peer, Buffer& buffer, std::size_t capacity_bytes);
};
static_assert(chiplog::TransportContract<SoundTransport>::holds);

struct SoundWindow {
  std::byte* data();
  std::size_t capacity() const;
};

// The same with writes and reads of a peer's memory.
struct SoundRemoteTransport : SoundTransport {
  using Window = SoundWindow;
  using Transfer = chiplog::Transfer<Buffer, Window>;
  using WordTransfer = chiplog::WordTransfer<Buffer, Window>;
  static constexpr std::size_t max_posted_operations = 1;
  static constexpr chiplog::Capabilities declared_capabilities() { return {.remote_write = true, .remote_read = true}; }
  Window make_window(std::size_t bytes);
  void post_write(const Transfer& transfer);
  void post_read(const Transfer& transfer);
  void wait_operations();
  void progress();
};
static_assert(chiplog::TransportContract<SoundRemoteTransport>::holds);
