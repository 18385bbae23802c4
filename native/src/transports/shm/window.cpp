#include "transports/shm/window.hpp"

#include <string>

#include "chiplog/error.hpp"
#include "transports/shm/layout.hpp"

namespace chiplog::shm {

Window::Window(Bootstrap& bootstrap, std::size_t bytes)
    : own_(bootstrap.rank()),
      bytes_(bytes),
      stride_((bytes + page_bytes - 1) / page_bytes * page_bytes),
      region_(std::make_unique<Region>(bootstrap, stride_ * static_cast<std::size_t>(bootstrap.size()))) {
  Region::populate(data(), stride_);
}

void Window::refuse(std::size_t offset, std::size_t bytes) const {
  throw Error(ExitCode::run_failed, std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                                        " reach beyond the " + std::to_string(bytes_) + " of a peer's memory");
}

}  // namespace chiplog::shm
