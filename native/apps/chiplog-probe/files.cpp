#include "files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

int open_or_refuse(const std::string& path, int flags, const std::string& option) {
  const int number = open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (number < 0) throw UsageError(option + ": " + path + " can't be opened: " + std::strerror(errno));
  return number;
}

int standard_output = STDOUT_FILENO;

}  // namespace

Descriptor Descriptor::open_requests(const std::string& path) {
  if (path == "-") return {STDIN_FILENO, false};
  return {open_or_refuse(path, O_RDONLY, "--requests"), true};
}

Descriptor Descriptor::open_records(const std::string& path) {
  if (path == "-") return {standard_output, false};
  Descriptor records{open_or_refuse(path, O_WRONLY | O_CREAT | O_APPEND, "--records"), true};
  struct stat status{};
  if (fstat(records.number_, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    throw UsageError("--records: " + path + " holds something already; name a new file");
  }
  return records;
}

void Descriptor::keep_standard_output_for_records() {
  const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept < 0) return;
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    close(kept);
    return;
  }
  standard_output = kept;
}

Descriptor::~Descriptor() {
  if (owned_) close(number_);
}

}  // namespace chiplog
