#include "core/interruption.hpp"

#include <csignal>

namespace chiplog {
namespace {

volatile std::sig_atomic_t interruption_seen = 0;

void note_interruption(int /*signal*/) { interruption_seen = 1; }

void handle_with(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void watch_for_interruption() { handle_with(note_interruption); }

void ignore_interruption() { handle_with(SIG_IGN); }

bool interrupted() { return interruption_seen != 0; }

}  // namespace chiplog
