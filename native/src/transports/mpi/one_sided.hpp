// One-sided MPI: MPI_Put, MPI_Get, MPI_Fetch_and_op and MPI_Compare_and_swap, completed by MPI_Win_flush
// or MPI_Win_fence.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bootstrap/mpi.hpp"
#include "chiplog/remote_memory.hpp"
#include "core/failures.hpp"
#include "transports/mpi/buffer.hpp"

#if !defined(CHIPLOG_SMPI)
#include "transports/mpi/window.hpp"
#endif

namespace chiplog {

enum class MpiOperations {
  messages,
  flushed,  // one-sided ones, too, completed by MPI_Win_flush
  fenced,   // writes, too, completed by MPI_Win_fence; between two ranks
};

#if defined(CHIPLOG_SMPI)

// A rank that looks at its memory again and again takes no simulated time.
class MpiOneSided {
 protected:
  explicit MpiOneSided(MpiOperations operations) : operations_(operations) {}
  [[nodiscard]] static constexpr Capabilities with_one_sided(const Capabilities& capabilities,
                                                             MpiOperations /*operations*/) {
    return capabilities;
  }
  [[nodiscard]] static std::string describe_one_sided_json() { return "{}"; }

  MpiOperations operations_;
};

#else

// MPI doesn't say in which order puts land; the libraries that chiplog is tested with keep it, and a payload check
// finds one that doesn't. An operation may begin only when it is waited for, which is for its landing, too.
class MpiOneSided {
 public:
  using Buffer = MpiBuffer;
  using Window = MpiWindow;
  using Transfer = chiplog::Transfer<Buffer, Window>;
  using WordTransfer = chiplog::WordTransfer<Buffer, Window>;
  static constexpr std::size_t max_posted_operations = 1024;

  // Collective.
  [[nodiscard]] Window make_window(std::size_t bytes);

  void post_write(const Transfer& transfer) {
    const auto& [peer, buffer, buffer_offset, bytes, window, window_offset] = transfer;
    prepare(peer, window, window_offset, bytes);
    const auto count = static_cast<int>(bytes);
    check(MPI_Put(buffer.data() + buffer_offset, count, MPI_BYTE, peer, static_cast<MPI_Aint>(window_offset), count,
                  MPI_BYTE, window.get()),
          "MPI_Put", peer);
  }
  void post_read(const Transfer& transfer) {
    const auto& [peer, buffer, buffer_offset, bytes, window, window_offset] = transfer;
    prepare(peer, window, window_offset, bytes);
    const auto count = static_cast<int>(bytes);
    check(MPI_Get(buffer.data() + buffer_offset, count, MPI_BYTE, peer, static_cast<MPI_Aint>(window_offset), count,
                  MPI_BYTE, window.get()),
          "MPI_Get", peer);
  }
  void post_fetch_add(const WordTransfer& word, std::uint64_t addend) {
    const auto& [peer, buffer, buffer_offset, window, window_offset] = word;
    Operands& operands = prepare(peer, window, window_offset, sizeof addend);
    operands.origin = addend;
    check(MPI_Fetch_and_op(&operands.origin, buffer.data() + buffer_offset, MPI_UINT64_T, peer,
                           static_cast<MPI_Aint>(window_offset), MPI_SUM, window.get()),
          "MPI_Fetch_and_op", peer);
  }
  void post_compare_swap(const WordTransfer& word, std::uint64_t expected, std::uint64_t desired) {
    const auto& [peer, buffer, buffer_offset, window, window_offset] = word;
    Operands& operands = prepare(peer, window, window_offset, sizeof desired);
    operands = {desired, expected};
    check(MPI_Compare_and_swap(&operands.origin, &operands.compared, buffer.data() + buffer_offset, MPI_UINT64_T, peer,
                               static_cast<MPI_Aint>(window_offset), window.get()),
          "MPI_Compare_and_swap", peer);
  }

  void wait_operations() {
    if (posted_ == 0) return;
    posted_ = 0;
    if (fenced()) {
      fence();
    } else if (peer_ == several) {
      check(MPI_Win_flush_all(window_), "MPI_Win_flush_all", MPI_PROC_NULL);
    } else {
      check(MPI_Win_flush(peer_, window_), "MPI_Win_flush", peer_);
    }
  }
  // No message ever comes on this communicator: looking for one lets MPI work.
  void progress() {
    int found = 0;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_.get(), &found, MPI_STATUS_IGNORE), "MPI_Iprobe",
          MPI_PROC_NULL);
  }
  template <class Ready>
  void wait_until(Rank /*peer*/, Ready ready) {
    if (fenced()) fence();
    while (!ready()) fenced() ? fence() : progress();
  }

 protected:
  // Collective. Throws Error where a rank can't see what others wrote into its window by reading its memory.
  explicit MpiOneSided(MpiOperations operations);

  [[nodiscard]] static constexpr Capabilities with_one_sided(Capabilities capabilities, MpiOperations operations) {
    capabilities.remote_write = operations != MpiOperations::messages;
    capabilities.remote_read = capabilities.atomics = operations == MpiOperations::flushed;
    return capabilities;
  }
  [[nodiscard]] std::string describe_one_sided_json() const;

  MpiOperations operations_;

 private:
  static constexpr Rank several = -1;

  // MPI reads them until the operation is complete.
  struct Operands {
    std::uint64_t origin = 0;
    std::uint64_t compared = 0;
  };

  static void check(int code, std::string_view what, Rank peer) {
    if (code != MPI_SUCCESS) [[unlikely]] {
      throw_mpi_error(code, what, peer);
    }
  }

  [[nodiscard]] bool fenced() const { return operations_ == MpiOperations::fenced; }
  void fence() { check(MPI_Win_fence(0, window_), "MPI_Win_fence", MPI_PROC_NULL); }

  // The place for the operands of the next operation. All pending operations are in `window`.
  Operands& prepare(Rank peer, const Window& window, std::size_t window_offset, std::size_t bytes) {
    window.check(peer, window_offset, bytes);
    if (posted_ == max_posted_operations) [[unlikely]] {
      throw_too_many_posted(max_posted_operations, "operations", "mpi");
    }
    if (posted_ > 0 && (fenced() || window_ != window.get())) wait_operations();
    peer_ = posted_ == 0 || peer_ == peer ? peer : several;
    window_ = window.get();
    return operands_[posted_++];
  }

  MpiCommunicator communicator_;
  std::array<Operands, max_posted_operations> operands_{};
  std::size_t posted_ = 0;
  // The window of all pending operations; the last one made, where ranks fence.
  MPI_Win window_ = MPI_WIN_NULL;
  Rank peer_ = several;
};

#endif

}  // namespace chiplog
