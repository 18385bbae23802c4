// The waits of a connection: polling or sleeping, up to the time limit, with checks that the peer is still there.
#include "core/failures.hpp"
#include "transports/verbs/connection.hpp"

namespace chiplog::verbs {
namespace {

constexpr std::chrono::milliseconds between_questions{250};

}  // namespace

void Connection::rest(Wait& wait) {
  if (wait.rest()) check(wait);
}

// What completes between the look and the request for an event is found by the second look.
void Connection::block(Wait& wait) {
  queue_.arm();
  if (poll()) return;
  wait.read_clock();
  if (queue_.await_event(static_cast<int>(between_questions.count()))) return;
  wait.read_clock();
  check(wait);
}

void Connection::check(Wait& wait) {
  if (wait.is_late()) {
    broken_ = true;
    throw_timed_out(peer_, settings_.time_limit);
  }
  if (wait.has_passed(between_questions)) ask_peer();
}

// The peer is asked only if no request is under way whose failure would tell.
void Connection::ask_peer() {
  if (!settings_.is_reliable() || !is_complete() || posted_ - completed_ >= send_slots) return;
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  submit(request, true);
}

}  // namespace chiplog::verbs
