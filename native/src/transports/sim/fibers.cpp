#include "transports/sim/fibers.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

#include "chiplog/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace chiplog::sim {
namespace {

constexpr std::size_t stack_bytes = std::size_t{512} << 10;
constexpr std::size_t guard_bytes = 4096;

// The address sanitizer must be told of every change of stacks.
void before_switch([[maybe_unused]] void** saved, [[maybe_unused]] const void* bottom,
                   [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(saved, bottom, bytes);
#endif
}

void after_switch([[maybe_unused]] void* saved, [[maybe_unused]] const void** old_bottom,
                  [[maybe_unused]] std::size_t* old_bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(saved, old_bottom, old_bytes);
#endif
}

}  // namespace

// The lowest page is a guard: an overflow faults instead of writing over other memory.
Fibers::Stack::Stack()
    : memory(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  if (memory == MAP_FAILED || mprotect(memory, guard_bytes, PROT_NONE) != 0) throw std::bad_alloc();
}

Fibers::Stack::~Stack() { munmap(memory, stack_bytes); }

void Fibers::run(std::vector<std::function<void()>> bodies) {
  fibers_ = std::vector<Fiber>(bodies.size());
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  for (std::size_t i = 0; i < fibers_.size(); ++i) {
    Fiber& fiber = fibers_[i];
    fiber.body = std::move(bodies[i]);
    fiber.stack = std::make_unique<Stack>();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack->memory;
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = nullptr;
    // makecontext passes ints only, so the pointer travels in halves.
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self >> 32U),
                static_cast<unsigned>(self & 0xffffffffU));
  }
  current_ = 0;
  any_finished_ = false;
  before_switch(&caller_sanitizer_stack_, fibers_[0].stack->memory, stack_bytes);
  swapcontext(&caller_, &fibers_[0].context);
  after_switch(caller_sanitizer_stack_, nullptr, nullptr);
  rethrow_failure();
}

void Fibers::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fibers*>((static_cast<std::uintptr_t>(high) << 32U) | low);
  const bool first = self->caller_stack_bottom_ == nullptr;
  after_switch(nullptr, first ? &self->caller_stack_bottom_ : nullptr, first ? &self->caller_stack_bytes_ : nullptr);
  Fiber& fiber = self->fibers_[self->current_];
  try {
    fiber.body();
  } catch (...) {
    fiber.failure = std::current_exception();
  }
  self->finish();
}

std::size_t Fibers::next_ready() const {
  for (std::size_t step = 1; step <= fibers_.size(); ++step) {
    const std::size_t at = (current_ + step) % fibers_.size();
    const Fiber& fiber = fibers_[at];
    if (fiber.finished) continue;
    if (fiber.waits_for.holds == nullptr || fiber.waits_for.holds(fiber.waits_for.object)) return at;
  }
  return fibers_.size();
}

std::size_t Fibers::next_made_ready() {
  std::size_t next = next_ready();
  while (next == fibers_.size() && go_on_()) next = next_ready();
  return next;
}

std::size_t Fibers::next_unfinished() const {
  for (std::size_t at = 0; at < fibers_.size(); ++at) {
    if (!fibers_[at].finished) return at;
  }
  return fibers_.size();
}

void Fibers::switch_to(std::size_t next) {
  Fiber& from = fibers_[current_];
  const std::size_t back = current_;
  current_ = next;
  before_switch(from.finished ? nullptr : &from.sanitizer_stack, fibers_[next].stack->memory, stack_bytes);
  swapcontext(&from.context, &fibers_[next].context);
  after_switch(fibers_[back].sanitizer_stack, nullptr, nullptr);
}

void Fibers::wait(const Condition& condition) {
  Fiber& fiber = fibers_[current_];
  fiber.waits_for = condition;
  const std::size_t next = next_made_ready();
  if (next == fibers_.size()) {
    fiber.given_up = true;
  } else if (next != current_) {
    switch_to(next);
  }
  fiber.waits_for = {};
  if (!fiber.given_up) return;
  if (any_finished_) throw PeerLost("a rank of the simulation has ended while another waits for it");
  throw TimedOut("all ranks of the simulation wait for each other");
}

// Ends the current fiber and goes on with one that is ready. If none is, it wakes one that then says that it can't go
// on.
void Fibers::finish() {
  fibers_[current_].finished = true;
  any_finished_ = true;
  const std::size_t unfinished = next_unfinished();
  if (unfinished == fibers_.size()) return_to_caller();
  std::size_t next = next_made_ready();
  if (next == fibers_.size()) {
    next = unfinished;
    fibers_[next].given_up = true;
  }
  switch_to(next);
}

void Fibers::return_to_caller() {
  before_switch(nullptr, caller_stack_bottom_, caller_stack_bytes_);
  setcontext(&caller_);
}

void Fibers::rethrow_failure() const {
  std::exception_ptr lost_peer;
  for (const Fiber& fiber : fibers_) {
    if (!fiber.failure) continue;
    try {
      std::rethrow_exception(fiber.failure);
    } catch (const PeerLost&) {
      if (!lost_peer) lost_peer = fiber.failure;
    }
  }
  if (lost_peer) std::rethrow_exception(lost_peer);
}

}  // namespace chiplog::sim
