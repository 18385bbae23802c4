// SIGINT and SIGTERM: the run ends after the record at hand, with a footer that says so.
#pragma once

namespace chiplog {

// From now on both signals only set a flag; for rank 0.
void watch_for_interruption();
// The other ranks end when rank 0 tells them to.
void ignore_interruption();
[[nodiscard]] bool interrupted();

}  // namespace chiplog
