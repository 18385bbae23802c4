// Processes that stand for ranks: what each did comes back as text.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bootstrap/socket.hpp"
#include "outcome.hpp"

namespace chiplog::testing {

// A pipe's reading end gives all that was written until the last writer is gone.
struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    reading = FileDescriptor(ends[0]);
    writing = FileDescriptor(ends[1]);
  }
  void write(const std::string& text) const {
    if (::write(writing.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(99);
  }
  std::string read_to_end() {
    writing.reset();
    std::string text;
    char chunk[4096];
    ssize_t got = 0;
    while ((got = ::read(reading.get(), chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR)) {
      if (got > 0) text.append(chunk, static_cast<std::size_t>(got));
    }
    return text;
  }

  FileDescriptor reading;
  FileDescriptor writing;
};

// A child process that runs `body` and ends; its text is what `body` returns. Killed and reaped when it goes.
class Process {
 public:
  explicit Process(const std::function<std::string()>& body) {
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("no process");
    if (process_ > 0) {
      pipe_.writing.reset();
      return;
    }
    std::string text;
    const std::string outcome = outcome_of([&] { text = body(); });
    pipe_.write(text + outcome);
    _exit(0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    reap();
  }

  [[nodiscard]] pid_t id() const { return process_; }
  // Waits for its end.
  std::string text() {
    std::string text = pipe_.read_to_end();
    reap();
    return text;
  }

 private:
  void reap() {
    while (process_ > 0 && waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
  }

  Pipe pipe_;
  pid_t process_ = -1;
};

// Each rank a process; their texts in the order of the ranks.
inline std::vector<std::string> run_ranks(int count, const std::function<std::string(int rank)>& body) {
  std::vector<std::unique_ptr<Process>> processes;
  for (int rank = 0; rank < count; ++rank) {
    processes.push_back(std::make_unique<Process>([&, rank] { return body(rank); }));
  }
  std::vector<std::string> texts;
  for (const auto& process : processes) texts.push_back(process->text());
  return texts;
}

}  // namespace chiplog::testing
