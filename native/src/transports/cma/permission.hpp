// Whether the kernel lets ranks reach each other's memory.
#pragma once

#include <string>

namespace chiplog::cma {

// Lets every process of this user reach this one's memory while the object lives, where Yama would let only parents
// (kernel.yama.ptrace_scope = 1). Without Yama it does nothing.
class Consent {
 public:
  Consent();
  Consent(const Consent&) = delete;
  Consent& operator=(const Consent&) = delete;
  ~Consent();
};

// The reason why it is forbidden and the remedy; both are empty where it is allowed.
struct Finding {
  std::string why;
  std::string remedy;
};

// Forks two processes, of which one reads a word of the other as ranks do.
[[nodiscard]] Finding what_forbids();

}  // namespace chiplog::cma
