// Parts of sentences for messages.
#pragma once

#include <chrono>
#include <string>

namespace chiplog {

// What an error number of the system means: "Connection refused".
[[nodiscard]] std::string system_error_text(int error);

// A duration: "30 s" or "0.25 s".
[[nodiscard]] std::string seconds_text(std::chrono::nanoseconds duration);

}  // namespace chiplog
