// MPI: MPI_Send, MPI_Isend, MPI_Recv, MPI_Irecv and MPI_Sendrecv on a communicator of its own, and one-sided operations
// where they are asked for.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/mpi.hpp"
#include "chiplog/contract.hpp"
#include "transports/mpi/buffer.hpp"
#include "transports/mpi/one_sided.hpp"

namespace chiplog {

// The length of a message: counted when it is asked for, since a timed loop doesn't ask.
class MpiReceived {
 public:
  explicit MpiReceived(const MPI_Status& status) : status_(status) {}

  operator std::size_t() const {  // NOLINT(google-explicit-constructor): the length is what receiving gives
    int bytes = 0;
    MPI_Get_count(&status_, MPI_BYTE, &bytes);
    return static_cast<std::size_t>(bytes);
  }

 private:
  MPI_Status status_;
};

// A rank that dies ends the whole job through its launcher, so these calls wait without a limit of their own.
class MpiTransport : public MpiOneSided {
 public:
  using Buffer = MpiBuffer;
#if defined(CHIPLOG_SMPI)
  using Abilities = AbilityList<ability::DescribesMpi, ability::SimulatesHosts, ability::Exchanges>;
#else
  using Abilities = AbilityList<ability::DescribesMpi, ability::BeginsOperationsAtWait, ability::Exchanges>;
#endif
  static constexpr std::string_view name = "mpi";
  static constexpr std::size_t max_posted_sends = 1024;

  // Collective.
  explicit MpiTransport(MpiOperations operations = MpiOperations::messages) : MpiOneSided(operations) {}

  [[nodiscard]] static constexpr Capabilities capabilities_with(MpiOperations operations) {
    return with_one_sided({.list_posting = true,
                           .synchronises = true,
                           .posts_receives = true,
                           .multiple_hosts = true,
                           .max_message_bytes = std::numeric_limits<int>::max()},
                          operations);
  }
  [[nodiscard]] static constexpr Capabilities declared_capabilities() {
    return capabilities_with(MpiOperations::flushed);
  }
  [[nodiscard]] Capabilities capabilities() const { return capabilities_with(operations_); }
#if defined(CHIPLOG_SMPI)
  [[nodiscard]] static Hosts hosts() { return Hosts::simulated; }
#endif
  [[nodiscard]] std::string options_json() const { return describe_one_sided_json(); }
  [[nodiscard]] std::string mpi_json() const;

  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const { return Buffer(bytes); }

  void send(Rank peer, Buffer& buffer, std::size_t bytes) {
    const int code = MPI_Send(buffer.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, communicator_.get());
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, "MPI_Send", peer);
    }
  }

  void post_send(Rank peer, Buffer& buffer, std::size_t bytes) {
    if (posted_ == max_posted_sends) [[unlikely]] {
      throw_too_many_posted(max_posted_sends, "sends", name);
    }
    const int code = MPI_Isend(buffer.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, communicator_.get(),
                               &requests_[posted_]);
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, "MPI_Isend", peer);
    }
    ++posted_;
  }

  void wait_sends() {
    const int code = MPI_Waitall(static_cast<int>(posted_), requests_.data(), MPI_STATUSES_IGNORE);
    posted_ = 0;
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, "MPI_Waitall", MPI_PROC_NULL);
    }
  }

  // A list is one persistent request a rank, all started by MPI_Startall.
  void prepare_list(Rank first, Rank last, Buffer& buffer, std::size_t bytes);
  void start_list() {
    const int code = MPI_Startall(static_cast<int>(list_.size()), list_.data());
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, "MPI_Startall", MPI_PROC_NULL);
    }
  }
  void wait_list() {
    const int code = MPI_Waitall(static_cast<int>(list_.size()), list_.data(), MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, "MPI_Waitall", MPI_PROC_NULL);
    }
  }
  void drop_list();

  MpiReceived exchange(Rank peer, Buffer& out, std::size_t bytes, Buffer& in, std::size_t capacity_bytes) {
    MPI_Status status;
    const int code = MPI_Sendrecv(out.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, in.data(),
                                  static_cast<int>(capacity_bytes), MPI_BYTE, peer, tag, communicator_.get(), &status);
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, "MPI_Sendrecv", peer);
    }
    return MpiReceived(status);
  }

  MpiReceived recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    MPI_Status status;
    const int code =
        MPI_Recv(buffer.data(), static_cast<int>(capacity_bytes), MPI_BYTE, peer, tag, communicator_.get(), &status);
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, "MPI_Recv", peer);
    }
    return MpiReceived(status);
  }

  void post_recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    const int code =
        MPI_Irecv(buffer.data(), static_cast<int>(capacity_bytes), MPI_BYTE, peer, tag, communicator_.get(), &receive_);
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, "MPI_Irecv", peer);
    }
  }
  MpiReceived wait_recv() {
    MPI_Status status;
    const int code = MPI_Wait(&receive_, &status);
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, "MPI_Wait", MPI_PROC_NULL);
    }
    return MpiReceived(status);
  }

 private:
  static constexpr int tag = 0;

  MpiCommunicator communicator_;
  std::array<MPI_Request, max_posted_sends> requests_{};
  std::size_t posted_ = 0;
  MPI_Request receive_ = MPI_REQUEST_NULL;
  std::vector<MPI_Request> list_;
};

static_assert(TransportContract<MpiTransport>::holds);

}  // namespace chiplog
