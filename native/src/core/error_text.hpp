// Parts of sentences for messages.
#pragma once

#include <chrono>
#include <string>

namespace chiplog {

// What an error number of the system means: "Connection refused". Where a limit of the process is met, how to raise it.
[[nodiscard]] std::string system_error_text(int error);

// Whether the error number says that the process or the system is short of something: no option is to blame.
[[nodiscard]] bool is_shortage(int error);

// A duration: "30 s" or "0.25 s".
[[nodiscard]] std::string seconds_text(std::chrono::nanoseconds duration);

}  // namespace chiplog
