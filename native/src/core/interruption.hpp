// After SIGINT or SIGTERM the run ends with the current record and a footer that says so.
#pragma once

namespace chiplog {

// On rank 0: from now on both signals only set a flag.
void watch_for_interruption();
// The other ranks end when rank 0 tells them to.
void ignore_interruption();
[[nodiscard]] bool interrupted();

}  // namespace chiplog
