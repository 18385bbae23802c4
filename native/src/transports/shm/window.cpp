#include "transports/shm/window.hpp"

#include "transports/shm/layout.hpp"

namespace chiplog::shm {

Window::Window(Bootstrap& bootstrap, std::size_t bytes)
    : own_(bootstrap.rank()),
      bytes_(bytes),
      stride_((bytes + page_bytes - 1) / page_bytes * page_bytes),
      memory_(share_memory(bootstrap, stride_ * static_cast<std::size_t>(bootstrap.size()))) {
  NodeMemory::populate(data(), stride_);
}

}  // namespace chiplog::shm
