#include "transports/mpi/mpi.hpp"

#include <cstring>

#include "chiplog/error.hpp"
#include "transports/mpi/library.hpp"

namespace chiplog {

MpiBuffer::MpiBuffer(std::size_t bytes)
    : bytes_(static_cast<std::byte*>(::operator new(bytes == 0 ? 1 : bytes, alignment))), capacity_(bytes) {
  std::memset(bytes_.get(), 0, bytes);
}

std::string MpiTransport::mpi_json() const { return describe_mpi_json(); }

void MpiTransport::throw_too_many_posted() {
  throw UsageError("more than " + std::to_string(max_posted_sends) + " sends are posted at once over mpi");
}

}  // namespace chiplog
