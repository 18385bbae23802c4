#include "transports/mpi/mpi.hpp"

#include "chiplog/error.hpp"
#include "transports/mpi/library.hpp"

namespace chiplog {

std::string MpiTransport::mpi_json() const { return describe_mpi_json(); }

void MpiTransport::prepare_list(Rank first, Rank last, Buffer& buffer, std::size_t bytes) {
  for (Rank peer = first; peer <= last; ++peer) {
    list_.push_back(MPI_REQUEST_NULL);
    const int code =
        MPI_Send_init(buffer.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, communicator_.get(), &list_.back());
    if (code != MPI_SUCCESS) throw_mpi_error(code, "MPI_Send_init", peer);
  }
}

void MpiTransport::drop_list() {
  for (MPI_Request& request : list_) MPI_Request_free(&request);
  list_.clear();
}

}  // namespace chiplog
