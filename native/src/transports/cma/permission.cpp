#include "transports/cma/permission.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>

#include "bootstrap/socket.hpp"
#include "core/error_text.hpp"

namespace chiplog::cma {
namespace {

constexpr std::uint64_t parents_word = 1;
constexpr std::uint64_t targets_word = 2;

// The same place in all processes that are forked from this one.
std::uint64_t word = parents_word;

struct Pipe {
  FileDescriptor to_read;
  FileDescriptor to_write;

  static Pipe make() {
    std::array<int, 2> ends{-1, -1};
    if (pipe(ends.data()) != 0) return {};
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  }
};

// Says by `ready` that it can be read, and stays until nobody holds the other end of `stay`.
[[noreturn]] void be_read(Pipe& ready, Pipe& stay) {
  const Consent consent;
  word = targets_word;
  stay.to_write.reset();
  char byte = 0;
  if (write(ready.to_write.get(), &byte, 1) == 1) (void)!read(stay.to_read.get(), &byte, 1);
  _exit(0);
}

// Exits with 0 or the number of the error.
[[noreturn]] void read_word_of(pid_t target) {
  std::uint64_t read_word = 0;
  const iovec here{&read_word, sizeof read_word};
  const iovec there{&word, sizeof word};
  const ssize_t done = process_vm_readv(target, &here, 1, &there, 1, 0);
  if (done < 0) _exit(errno);
  _exit(read_word == targets_word ? 0 : EFAULT);
}

// The number of an error. It is EINTR where a signal ended the process, as a filter that kills does.
int exit_code_of(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

// The test runs between two processes of one parent, as ranks under a launcher are.
int try_between_siblings() {
  Pipe ready = Pipe::make();
  Pipe stay = Pipe::make();
  if (!ready.to_read.open() || !stay.to_read.open()) return errno;
  const pid_t target = fork();
  if (target < 0) return errno;
  if (target == 0) be_read(ready, stay);
  ready.to_write.reset();
  char byte = 0;
  const bool is_ready = read(ready.to_read.get(), &byte, 1) == 1;
  const pid_t reader = is_ready ? fork() : -1;
  if (reader == 0) read_word_of(target);
  const int error = reader < 0 ? EAGAIN : exit_code_of(reader);
  stay.to_write.reset();
  (void)exit_code_of(target);
  return error;
}

// Yama's restriction, 0 to 3; -1 where the kernel has none.
int ptrace_scope() {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = -1;
  file >> scope;
  return file ? scope : -1;
}

}  // namespace

Consent::Consent() {
#ifdef PR_SET_PTRACER
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
}

Consent::~Consent() {
#ifdef PR_SET_PTRACER
  prctl(PR_SET_PTRACER, 0, 0, 0, 0);
#endif
}

Finding what_forbids() {
  const int error = try_between_siblings();
  if (error == 0) return {};
  const int scope = ptrace_scope();
  if (error == EPERM && scope >= 2) {
    const std::string setting = "kernel.yama.ptrace_scope";
    return {"the kernel lets no process read another one's memory: " + setting + " is " + std::to_string(scope),
            scope == 2 ? "as root: sysctl " + setting + "=1" : "set " + setting + "=1 and start this machine again"};
  }
  if (error == EPERM || error == EINTR) {
    return {"a container's system call filter or a security module forbids process_vm_readv",
            "start the container with --cap-add=SYS_PTRACE, or with a seccomp profile that allows process_vm_readv and "
            "process_vm_writev"};
  }
  if (error == ENOSYS) {
    return {"this kernel has no process_vm_readv, or a container's system call filter hides it",
            "use a kernel with CONFIG_CROSS_MEMORY_ATTACH and a seccomp profile that allows process_vm_readv"};
  }
  return {"a trial of process_vm_readv failed: " + system_error_text(error), ""};
}

}  // namespace chiplog::cma
