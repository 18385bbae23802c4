#include <poll.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "chiplog/error.hpp"
#include "transports/udp/udp.hpp"

namespace chiplog {

using udp::Polled;
using SteadyClock = std::chrono::steady_clock;

UdpTransport::UdpTransport(std::unique_ptr<udp::Shared> shared, std::vector<std::unique_ptr<udp::Link>> links,
                           std::string options_json)
    : shared_(std::move(shared)), links_(std::move(links)), options_json_(std::move(options_json)) {}

UdpTransport::~UdpTransport() {
  constexpr std::chrono::seconds moment{1};
  if (!shared_ || std::uncaught_exceptions() > 0) return;
  try {
    flush_within(std::min<std::chrono::nanoseconds>(moment, shared_->time_limit));
  } catch (const Error&) {
    // No peer is left that needs it.
  }
}

std::vector<Counter> UdpTransport::counters() const {
  const udp::Counters& counted = shared_->counters;
  return {{"lost", counted.lost},
          {"duplicated", counted.duplicated},
          {"reordered", counted.reordered},
          {"resent", counted.resent}};
}

std::size_t UdpTransport::exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
  udp::Link& both = link(peer);
  udp::Assembly message{in.data(), capacity_bytes};
  bool is_whole = false;
  shared_->pacer.before_message();
  std::size_t sent = 0;
  do {
    const std::size_t part_bytes = std::min(bytes - sent, both.max_payload_bytes());
    if (!both.has_room(part_bytes)) is_whole |= wait_for_room(both, part_bytes, is_whole ? nullptr : &message);
    both.send(out.data() + sent, part_bytes, bytes);
    sent += part_bytes;
  } while (sent < bytes);
  if (!is_whole && both.poll(&message) != Polled::whole_message) finish_recv(both, message);
  return message.got_bytes;
}

bool UdpTransport::wait_for_room(udp::Link& to, std::size_t payload_bytes, udp::Assembly* message) {
  Wait wait(WaitPolicy::make(LookCost::system_call, false, shared_->time_limit));
  std::uint64_t acknowledged = to.acknowledged();
  bool is_whole = false;
  while (!to.has_room(payload_bytes)) {
    const Polled seen = to.poll(is_whole ? nullptr : message);
    if (seen == Polled::nothing) wait_on(to, wait);
    is_whole |= seen == Polled::whole_message;
    if (to.acknowledged() != acknowledged) wait.begin_again();
    acknowledged = to.acknowledged();
  }
  return is_whole;
}

void UdpTransport::finish_recv(udp::Link& from, udp::Assembly& message) {
  Wait wait(WaitPolicy::make(LookCost::system_call, false, shared_->time_limit));
  std::size_t got_bytes = message.got_bytes;
  for (;;) {
    const Polled seen = from.poll(&message);
    if (seen == Polled::whole_message) return;
    if (seen == Polled::nothing) wait_on(from, wait);
    if (message.got_bytes != got_bytes) wait.begin_again();
    got_bytes = message.got_bytes;
  }
}

void UdpTransport::wait_on(udp::Link& on, Wait& wait) {
  if (on.closed()) on.throw_lost();
  const bool busy = shared_->waiting == udp::Waiting::busy;
  if (busy) {
    if (!wait.is_rest_due() || !wait.rest()) return;
  } else {
    wait.read_clock();
  }
  if (!busy || wait.has_passed(udp::patience)) attend_all(wait.now());
  if (wait.is_late()) on.throw_timed_out();
}

void UdpTransport::attend_all(udp::Link::TimePoint now) {
  for (const auto& one : links_) {
    if (one) one->attend(now);
  }
}

void UdpTransport::flush() { flush_within(shared_->time_limit); }

void UdpTransport::flush_within(std::chrono::nanoseconds limit) {
  auto now = SteadyClock::now();
  const auto deadline = now + limit;
  for (const auto& one : links_) {
    if (!one) continue;
    one->tell();
    one->ask_from(now + udp::patience);
  }
  for (;;) {
    attend_all(now);
    const auto unsure =
        std::find_if(links_.begin(), links_.end(), [](const auto& one) { return one && !one->all_acknowledged(); });
    if (unsure == links_.end()) return;
    if ((*unsure)->closed()) (*unsure)->throw_lost();
    if (now >= deadline) (*unsure)->throw_timed_out();
    sleep_until_something_happens();
    now = SteadyClock::now();
  }
}

void UdpTransport::sleep_until_something_happens() {
  std::vector<pollfd> watched;
  for (const auto& one : links_) {
    if (!one || one->closed()) continue;
    watched.push_back({one->datagrams_fd(), POLLIN, 0});
    watched.push_back({one->beside_fd(), POLLIN, 0});
  }
  poll(watched.data(), watched.size(), static_cast<int>(udp::patience.count()));
}

}  // namespace chiplog
