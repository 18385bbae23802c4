#include "transports/cma/process_memory.hpp"

#include <cerrno>

#include "chiplog/error.hpp"
#include "core/error_text.hpp"
#include "core/failures.hpp"

namespace chiplog::cma {
namespace {

[[noreturn]] void throw_failed(const Process& process, std::size_t bytes, int error) {
  const std::string who = name_of(process.rank);
  switch (error) {
    case ESRCH:
      throw_left(process.rank);
    case EFAULT:
      throw Error(ExitCode::run_failed,
                  who + " has no memory where " + std::to_string(bytes) + " bytes were to be copied");
    case EPERM:
      throw Error(ExitCode::run_failed, "the kernel does not let this process reach the memory of " + who +
                                            "; `chiplog doctor` says what forbids it");
    default:
      throw Error(ExitCode::run_failed, "the kernel can't copy " + std::to_string(bytes) + " bytes to or from " + who +
                                            ": " + system_error_text(error));
  }
}

// `copy(done)` copies what follows the first `done` bytes. The kernel stops in front of a page that is not there, and
// says why only when it is asked again.
template <class Copy>
void finish(const Process& process, std::size_t bytes, ssize_t first, Copy copy) {
  std::size_t done = 0;
  for (ssize_t copied = first;; copied = copy(done)) {
    if (copied < 0 && errno == EINTR) continue;
    if (copied <= 0) throw_failed(process, bytes, copied < 0 ? errno : EFAULT);
    done += static_cast<std::size_t>(copied);
    if (done >= bytes) return;
  }
}

}  // namespace

void finish_read(const Process& from, Address address, std::byte* to, std::size_t bytes, ssize_t done) {
  finish(from, bytes, done, [&](std::size_t so_far) {
    const iovec here{to + so_far, bytes - so_far};
    const iovec there{reinterpret_cast<void*>(address + so_far), bytes - so_far};
    return process_vm_readv(from.id, &here, 1, &there, 1, 0);
  });
}

void finish_write(const Process& to, Address address, const std::byte* from, std::size_t bytes, ssize_t done) {
  finish(to, bytes, done, [&](std::size_t so_far) {
    const iovec here{const_cast<std::byte*>(from) + so_far, bytes - so_far};
    const iovec there{reinterpret_cast<void*>(address + so_far), bytes - so_far};
    return process_vm_writev(to.id, &here, 1, &there, 1, 0);
  });
}

}  // namespace chiplog::cma
