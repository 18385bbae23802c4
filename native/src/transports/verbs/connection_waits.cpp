// How a connection waits: looking or sleeping, up to the time limit, and asking whether the peer is still there.
#include <sched.h>

#include "bootstrap/socket.hpp"
#include "chiplog/error.hpp"
#include "transports/verbs/connection.hpp"

namespace chiplog::verbs {
namespace {

constexpr std::chrono::milliseconds between_questions{250};

}  // namespace

void Connection::idle(Wait& wait) {
  const std::uint64_t looks_between_checks = settings_.crowded ? 1U << 5U : 1U << 12U;
  if (++wait.looks % looks_between_checks == 0) yield(wait);
}

void Connection::yield(Wait& wait) {
  check(wait);
  sched_yield();
}

// What completes between the look and the request for an event is found by the second look.
void Connection::block(Wait& wait) {
  queue_.arm();
  if (poll()) return;
  if (wait.looks++ == 0) check(wait);
  if (!queue_.await_event(static_cast<int>(between_questions.count()))) check(wait);
}

void Connection::check(Wait& wait) {
  const auto now = std::chrono::steady_clock::now();
  if (wait.since == std::chrono::steady_clock::time_point{}) wait.since = wait.asked = now;
  if (now - wait.since >= settings_.time_limit) {
    broken_ = true;
    throw TimedOut("no word from rank " + std::to_string(peer_) + " within " + seconds_text(settings_.time_limit));
  }
  if (now - wait.asked < between_questions) return;
  wait.asked = now;
  ask_peer();
}

// Only where nothing is under way whose failure would tell.
void Connection::ask_peer() {
  if (!settings_.is_reliable() || !is_complete() || posted_ - completed_ >= send_slots) return;
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  submit(request, true);
}

}  // namespace chiplog::verbs
