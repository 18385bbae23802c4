// Ranks as fibers of one thread: one runs until it waits for something that another must do.
#pragma once

#include <ucontext.h>

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace chiplog::sim {

// Everything happens on the thread that calls `run`. A fiber must not wait while an exception is being handled.
class Fibers {
 public:
  Fibers() = default;
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Runs one fiber a function, until all have returned. If any ended in an exception, the one of the lowest such
  // fiber is thrown, unless it only lost a peer and another has more to say.
  void run(std::vector<std::function<void()>> bodies);

  // Called repeatedly while all fibers wait, before any gives up; returns true if it changed something.
  void when_all_wait(std::function<bool()> go_on) { go_on_ = std::move(go_on); }

  // A fiber calls this to let others run until `ready()`. Throws PeerLost if a fiber has ended and this one can't
  // become ready any more; TimedOut if all wait for each other.
  template <class Ready>
  void wait_until(const Ready& ready) {
    if (ready()) return;
    wait({&ready, [](const void* object) { return (*static_cast<const Ready*>(object))(); }});
  }

 private:
  struct Condition {
    const void* object = nullptr;
    bool (*holds)(const void* object) = nullptr;
  };
  struct Stack {
    Stack();
    ~Stack();
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    void* memory;
  };
  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<Stack> stack;
    std::function<void()> body;
    Condition waits_for;
    bool finished = false;
    bool given_up = false;
    std::exception_ptr failure;
    void* sanitizer_stack = nullptr;
  };

  static void enter(unsigned high, unsigned low);
  void wait(const Condition& condition);
  void finish();
  // The next fiber after the current one that can go on; the number of fibers if there is none.
  [[nodiscard]] std::size_t next_ready() const;
  // The same, after it has called the function that may make one ready.
  [[nodiscard]] std::size_t next_made_ready();
  [[nodiscard]] std::size_t next_unfinished() const;
  void switch_to(std::size_t next);
  void return_to_caller();
  void rethrow_failure() const;

  std::vector<Fiber> fibers_;
  std::function<bool()> go_on_ = [] { return false; };
  std::size_t current_ = 0;
  bool any_finished_ = false;
  ucontext_t caller_{};
  void* caller_sanitizer_stack_ = nullptr;
  const void* caller_stack_bottom_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
};

}  // namespace chiplog::sim
