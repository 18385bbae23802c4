// The errors that end a run, and their exit codes.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace chiplog {

// The exit codes of both programs; docs/reference/exit-codes.md lists them for users.
enum class ExitCode : int {
  done = 0,
  run_failed = 1,
  wrong_usage = 2,
  threshold_hit = 3,
  precision_not_met = 4,
  corrupt = 5,
  interrupted = 130,
};

// An error holds one sentence that says what happened and what to do, and the exit code of the process.
class Error : public std::runtime_error {
 public:
  // `cause` is the rank whose end or silence led to the error, where it is known.
  Error(ExitCode exit_code, const std::string& message, std::optional<int> cause = std::nullopt)
      : std::runtime_error(message), exit_code_(exit_code), cause_(cause) {}
  [[nodiscard]] ExitCode exit_code() const noexcept { return exit_code_; }
  [[nodiscard]] std::optional<int> cause() const noexcept { return cause_; }

 private:
  ExitCode exit_code_;
  std::optional<int> cause_;
};

// A peer closed its end or died.
class PeerLost : public Error {
 public:
  explicit PeerLost(const std::string& message, std::optional<int> peer = std::nullopt)
      : Error(ExitCode::run_failed, message, peer) {}
};

// A peer or a host did not answer in time.
class TimedOut : public Error {
 public:
  explicit TimedOut(const std::string& message, std::optional<int> peer = std::nullopt)
      : Error(ExitCode::run_failed, message, peer) {}
};

// A message was longer than the receiver had room for.
class Truncated : public Error {
 public:
  explicit Truncated(const std::string& message) : Error(ExitCode::run_failed, message) {}
};

// An option or a request can't be met. The message names it and says what is accepted.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::wrong_usage, message) {}
};

// A payload, a frame or a request is corrupt.
class Corrupt : public Error {
 public:
  explicit Corrupt(const std::string& message) : Error(ExitCode::corrupt, message) {}
};

}  // namespace chiplog
