#include "bootstrap/mpi.hpp"

#include <array>
#include <cstdlib>
#include <exception>
#include <thread>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

constexpr Rank root = 0;
constexpr int length_tag = 1;
constexpr int blob_tag = 2;

void check(int code, std::string_view what, Rank peer) {
  if (code != MPI_SUCCESS) throw_mpi_error(code, what, peer);
}

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "error " + std::to_string(code);
  return {text.data(), static_cast<std::size_t>(length)};
}

[[maybe_unused]] void pause_after(std::int64_t looks) {
  constexpr std::int64_t eager_looks = 10'000;
  constexpr auto nap = std::chrono::microseconds(50);
  if (looks < eager_looks) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace

MpiLibrary::MpiLibrary(int& argc, char**& argv) {
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) throw Error(ExitCode::run_failed, "MPI_Init failed");
}

MpiLibrary::~MpiLibrary() {
  // MPI_Finalize waits for all ranks, so a rank that leaves because of an error must not call it.
  if (std::uncaught_exceptions() > 0) abort(static_cast<int>(ExitCode::run_failed));
  MPI_Finalize();
}

void MpiLibrary::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

MpiCommunicator::MpiCommunicator() {
  const int code = MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
  if (code != MPI_SUCCESS) throw_mpi_error(code, "MPI_Comm_dup", MPI_PROC_NULL);
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
}

MpiCommunicator::~MpiCommunicator() {
  // Collective: a rank that is on its way out because of an error must not wait for the others here.
  if (std::uncaught_exceptions() == 0) MPI_Comm_free(&communicator_);
}

void throw_mpi_error(int code, std::string_view what, Rank peer) {
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(code, &error_class);
  const std::string with = peer >= 0 ? " with rank " + std::to_string(peer) : "";
  const std::string sentence = std::string(what) + with + " failed: " + error_text(code);
  if (error_class == MPI_ERR_TRUNCATE) throw Truncated(sentence);
#if defined(MPIX_ERR_PROC_FAILED)
  if (error_class == MPIX_ERR_PROC_FAILED) throw PeerLost(sentence);
#endif
  throw Error(ExitCode::run_failed, sentence);
}

MpiBootstrap::MpiBootstrap(std::chrono::nanoseconds time_limit) : time_limit_(time_limit) {
  MPI_Comm_rank(communicator_.get(), &rank_);
  MPI_Comm_size(communicator_.get(), &size_);
}

std::string MpiBootstrap::broadcast(std::string_view blob) {
  if (rank_ != root) return receive(root);
  for (Rank peer = 1; peer < size_; ++peer) send(peer, blob);
  return std::string(blob);
}

std::vector<std::string> MpiBootstrap::gather(std::string_view blob) {
  if (rank_ != root) {
    send(root, blob);
    return {};
  }
  std::vector<std::string> blobs{std::string(blob)};
  for (Rank peer = 1; peer < size_; ++peer) blobs.push_back(receive(peer));
  return blobs;
}

void MpiBootstrap::barrier() {
  if (rank_ == root) {
    for (Rank peer = 1; peer < size_; ++peer) receive(peer);
    for (Rank peer = 1; peer < size_; ++peer) send(peer, {});
  } else {
    send(root, {});
    receive(root);
  }
}

// A node is identified by its lowest rank. The name is MPI's, which knows the hosts that SMPI simulates.
Bootstrap::Node MpiBootstrap::node() {
  MPI_Comm sharing = MPI_COMM_NULL;
  check(MPI_Comm_split_type(communicator_.get(), MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &sharing),
        "MPI_Comm_split_type", MPI_PROC_NULL);
  Rank lowest = rank_;
  check(MPI_Bcast(&lowest, 1, MPI_INT, 0, sharing), "MPI_Bcast", MPI_PROC_NULL);
  MPI_Comm_free(&sharing);
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name", MPI_PROC_NULL);
  return {{name.data(), static_cast<std::size_t>(length)}, std::to_string(lowest)};
}

void MpiBootstrap::send(Rank peer, std::string_view blob) {
  if (blob.size() > max_blob_bytes) {
    throw Error(ExitCode::run_failed, "a message of " + std::to_string(blob.size()) + " bytes to rank " +
                                          std::to_string(peer) + " exceeds the bootstrap's limit");
  }
  const std::int64_t length = static_cast<std::int64_t>(blob.size());
  check(MPI_Send(&length, 1, MPI_INT64_T, peer, length_tag, communicator_.get()), "MPI_Send", peer);
  if (length == 0) return;
  check(MPI_Send(blob.data(), static_cast<int>(length), MPI_CHAR, peer, blob_tag, communicator_.get()), "MPI_Send",
        peer);
}

std::string MpiBootstrap::receive(Rank peer) {
  wait_for_message(peer);
  std::int64_t length = 0;
  check(MPI_Recv(&length, 1, MPI_INT64_T, peer, length_tag, communicator_.get(), MPI_STATUS_IGNORE), "MPI_Recv", peer);
  if (length < 0 || static_cast<std::size_t>(length) > max_blob_bytes) {
    throw Corrupt("rank " + std::to_string(peer) + " announces a message of " + std::to_string(length) +
                  " bytes; the bootstrap accepts up to " + std::to_string(max_blob_bytes));
  }
  std::string blob(static_cast<std::size_t>(length), '\0');
  if (length == 0) return blob;
  check(
      MPI_Recv(blob.data(), static_cast<int>(length), MPI_CHAR, peer, blob_tag, communicator_.get(), MPI_STATUS_IGNORE),
      "MPI_Recv", peer);
  return blob;
}

#if defined(CHIPLOG_SMPI)

// Polling takes no simulated time, so it would never end; a blocking receive waits instead.
void MpiBootstrap::wait_for_message(Rank) {}

#else

void MpiBootstrap::wait_for_message(Rank peer) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t looks = 0;; ++looks) {
    int there = 0;
    check(MPI_Iprobe(peer, length_tag, communicator_.get(), &there, MPI_STATUS_IGNORE), "MPI_Iprobe", peer);
    if (there != 0) return;
    if (std::chrono::steady_clock::now() - begin > time_limit_) {
      const double seconds = std::chrono::duration<double>(time_limit_).count();
      throw TimedOut("rank " + std::to_string(peer) + " has not answered within " + std::to_string(seconds) + " s");
    }
    pause_after(looks);
  }
}

#endif

}  // namespace chiplog
