#include "transports/udp/link.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "chiplog/error.hpp"
#include "core/failures.hpp"

namespace chiplog::udp {
namespace {

constexpr std::chrono::milliseconds longest_question_gap{160};
// A peer that sends more than this before anybody receives has to wait.
constexpr std::size_t max_kept_bytes = std::size_t{16} << 20U;

void limit_blocking(int fd, int option, std::chrono::nanoseconds limit) {
  const auto limit_us = std::chrono::ceil<std::chrono::microseconds>(limit).count();
  timeval time{};
  time.tv_sec = static_cast<decltype(time.tv_sec)>(limit_us / 1'000'000);
  time.tv_usec = static_cast<decltype(time.tv_usec)>(limit_us % 1'000'000);
  setsockopt(fd, SOL_SOCKET, option, &time, sizeof time);
}

}  // namespace

Link::Link(FileDescriptor datagrams, FileDescriptor beside, Rank peer, std::size_t max_payload_bytes,
           std::size_t window_bytes, Shared& shared)
    : datagrams_(std::move(datagrams)),
      beside_(std::move(beside)),
      peer_(peer),
      max_payload_bytes_(max_payload_bytes),
      shared_(shared),
      receive_flags_(shared.waiting == Waiting::busy ? MSG_DONTWAIT : 0),
      outbox_(window_bytes, sizeof(Header) + max_payload_bytes) {
  limit_blocking(datagrams_.get(), SO_RCVTIMEO, patience);
  limit_blocking(datagrams_.get(), SO_SNDTIMEO, shared.time_limit);
  limit_blocking(beside_.get(), SO_SNDTIMEO, shared.time_limit);
}

void Link::send(const std::byte* payload, std::size_t payload_bytes, std::size_t message_bytes) {
  const std::size_t charge = buffer_charge(sizeof(Header) + payload_bytes);
  const std::size_t window_bytes = outbox_.window_bytes();
  charged_since_request_ += charge;
  Header header{.run = shared_.run, .number = outbox_.next(), .expected = inbox_.expected(), .detail = message_bytes};
  if (outbox_.charged_bytes() + charge >= window_bytes / 2 && charged_since_request_ >= window_bytes / 4) {
    header.kind = Kind::data_to_acknowledge;
    charged_since_request_ = 0;
  }
  transmit(outbox_.keep(header, payload, payload_bytes, questions_));
}

void Link::transmit(std::span<const std::byte> datagram) {
  shared_.pacer.before_datagram(datagram.size());
  // An error of an earlier datagram is told once, and then this one was not sent.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (::send(datagrams_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0) return;
    if (errno != ECONNREFUSED && errno != EINTR) break;
  }
  const int error = errno;
  if (error == EMSGSIZE) {
    throw UsageError("option 'datagram' of udp: " + std::to_string(datagram.size() - sizeof(Header)) +
                     " bytes are too long for the way to rank " + std::to_string(peer_));
  }
  // A datagram that could not be sent counts as lost on its way. The stream connection tells whether the peer is gone.
  if (error == ECONNREFUSED || error == EINTR || error == ENOBUFS || error == EAGAIN) return;
  close();
  throw_unreachable(peer_, error);
}

Polled Link::poll(Assembly* assembly, int flags) {
  if (assembly != nullptr && inbox_.has_next()) [[unlikely]] {
    return take_kept(*assembly);
  }
  Header header;
  std::byte* const into = assembly == nullptr ? nullptr : assembly->payload + assembly->got_bytes;
  const std::size_t room_bytes = assembly == nullptr ? 0 : assembly->capacity_bytes - assembly->got_bytes;
  std::array<iovec, 3> parts{{{&header, sizeof header},  //
                              {into, room_bytes},
                              {shared_.spill.get(), Shared::spill_bytes}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const ssize_t got = recvmsg(datagrams_.get(), &message, flags);
  if (got < 0) {
    // Refused: an earlier datagram found nobody; whether the peer is gone shows beside.
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNREFUSED) return Polled::nothing;
    throw_lost();
  }
  const auto bytes = static_cast<std::size_t>(got);
  if (!is_one_of_ours(header, bytes)) return Polled::something;
  if (header.expected > outbox_.first()) acknowledge(header.expected);
  switch (header.kind) {
    case Kind::data:
    case Kind::data_to_acknowledge:
      return take_data(header, bytes - sizeof header, assembly);
    case Kind::question:
      send_word(Kind::answer, header.number, inbox_.arrived_behind());
      break;
    case Kind::answer:
      send_again(header);
      break;
    default:
      break;
  }
  return Polled::something;
}

bool Link::is_one_of_ours(const Header& header, std::size_t bytes) const {
  return bytes >= sizeof header && header.mark == Header::right_mark && header.run == shared_.run;
}

Polled Link::take_data(const Header& header, std::size_t payload_bytes, Assembly* assembly) {
  const Inbox::Arrival arrival = inbox_.arrive(header, assembly != nullptr, shared_.counters);
  Polled result = Polled::something;
  if (arrival == Inbox::Arrival::wanted) {
    result = add_part(*assembly, payload_bytes, header.detail);
  } else if (arrival != Inbox::Arrival::again) {
    const std::size_t room_bytes = assembly == nullptr ? 0 : assembly->capacity_bytes - assembly->got_bytes;
    const std::size_t in_place_bytes = std::min(payload_bytes, room_bytes);
    std::vector<std::byte> payload(payload_bytes);
    if (in_place_bytes > 0) std::memcpy(payload.data(), assembly->payload + assembly->got_bytes, in_place_bytes);
    if (payload_bytes > in_place_bytes) {
      std::memcpy(payload.data() + in_place_bytes, shared_.spill.get(), payload_bytes - in_place_bytes);
    }
    inbox_.keep(header, std::move(payload));
  }
  if (header.kind == Kind::data_to_acknowledge) send_word(Kind::acknowledgement, 0, 0);
  return result;
}

Polled Link::take_kept(Assembly& assembly) {
  const Inbox::Kept part = inbox_.take();
  check_length(assembly, part.message_bytes);
  if (!part.payload.empty()) {
    std::memcpy(assembly.payload + assembly.got_bytes, part.payload.data(),
                std::min(part.payload.size(), assembly.capacity_bytes - assembly.got_bytes));
  }
  return add_part(assembly, part.payload.size(), part.message_bytes);
}

Polled Link::add_part(Assembly& assembly, std::size_t part_bytes, std::uint64_t message_bytes) {
  check_length(assembly, message_bytes);
  assembly.got_bytes += part_bytes;
  if (assembly.got_bytes > message_bytes) {
    close();
    throw Corrupt("a message from " + name_of(peer_) + " has more parts than it has room for");
  }
  return assembly.got_bytes == message_bytes ? Polled::whole_message : Polled::something;
}

void Link::check_length(const Assembly& assembly, std::uint64_t message_bytes) {
  if (message_bytes <= assembly.capacity_bytes) return;
  close();
  throw_truncated(peer_, message_bytes, assembly.capacity_bytes);
}

void Link::acknowledge(std::uint64_t expected) {
  if (!outbox_.acknowledge(expected)) return;
  question_gap_ = patience;
  if (outbox_.empty()) charged_since_request_ = 0;
}

void Link::send_again(const Header& answer) {
  for (std::uint64_t number = std::max(answer.expected, outbox_.first()); number < outbox_.next(); ++number) {
    const std::uint64_t behind = number - answer.expected;
    if (behind > 64) return;  // unknown; the next answer tells
    if (behind > 0 && (answer.detail >> (behind - 1) & 1U) != 0) continue;
    Outbox::Entry& entry = outbox_.entry(number);
    if (entry.question >= answer.number) continue;  // sent after the question: perhaps still on its way
    entry.question = questions_;
    const std::span<std::byte> datagram = outbox_.bytes_of(entry);
    Header header;
    std::memcpy(&header, datagram.data(), sizeof header);
    header.attempt = static_cast<std::uint8_t>(std::min(header.attempt + 1, 255));
    header.expected = inbox_.expected();
    std::memcpy(datagram.data(), &header, sizeof header);
    ++shared_.counters.resent;
    transmit(datagram);
  }
}

void Link::send_word(Kind kind, std::uint64_t number, std::uint64_t detail) {
  const Header header{
      .kind = kind, .run = shared_.run, .number = number, .expected = inbox_.expected(), .detail = detail};
  transmit(std::as_bytes(std::span(&header, 1)));
}

void Link::attend(TimePoint now) {
  if (!beside_.open()) return;
  read_beside();
  drain();
  if (outbox_.empty() || closed_ || now < question_due_) return;
  send_word(Kind::question, ++questions_, 0);
  question_due_ = now + question_gap_;
  question_gap_ = std::min(2 * question_gap_, longest_question_gap);
}

void Link::drain() {
  while (inbox_.kept_bytes() < max_kept_bytes && poll(nullptr, MSG_DONTWAIT) == Polled::something) {
  }
}

void Link::read_beside() {
  while (!closed_) {
    const ssize_t got = ::recv(beside_.get(), heard_.data() + heard_bytes_, heard_.size() - heard_bytes_, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (got <= 0) {
      closed_ = true;
      return;
    }
    heard_bytes_ += static_cast<std::size_t>(got);
    if (heard_bytes_ < heard_.size()) return;
    heard_bytes_ = 0;
    std::uint64_t expected = 0;
    std::memcpy(&expected, heard_.data(), sizeof expected);
    acknowledge(expected);
  }
}

void Link::tell() {
  const std::uint64_t expected = inbox_.expected();
  if (expected == told_ || !beside_.open()) return;
  told_ = expected;
  const IoResult result =
      send_all(beside_.get(), std::as_bytes(std::span(&expected, 1)), Deadline::in(shared_.time_limit));
  if (result == IoResult::timed_out) throw_timed_out();
  if (result == IoResult::closed) closed_ = true;
}

void Link::close() {
  datagrams_.reset();
  beside_.reset();
  closed_ = true;
}

void Link::throw_lost() {
  const bool failed_before = !datagrams_.open();
  close();
  if (failed_before) throw_disconnected(peer_);
  throw_closed(peer_);
}

void Link::throw_timed_out() {
  close();
  chiplog::throw_timed_out(peer_, shared_.time_limit);
}

}  // namespace chiplog::udp
