#include "transports/mpi/one_sided.hpp"

#if !defined(CHIPLOG_SMPI)

#include "chiplog/error.hpp"
#include "core/json_object.hpp"

namespace chiplog {
namespace {

// An attribute of the window that MPI itself sets; `unknown` where it has none.
int attribute_of(MPI_Win window, int key, int unknown) {
  int* value = nullptr;
  int there = 0;
  const int code = MPI_Win_get_attr(window, key, &value, &there);
  return code == MPI_SUCCESS && there != 0 ? *value : unknown;
}

}  // namespace

MpiOneSided::MpiOneSided(MpiOperations operations) : operations_(operations) {
  if (operations == MpiOperations::messages) return;
  int ranks = 0;
  MPI_Comm_size(communicator_.get(), &ranks);
  if (fenced() && ranks != 2) {
    throw UsageError("mpi:rma=fence needs 2 ranks, not " + std::to_string(ranks) +
                     ": a fence is collective, and who has no part in a message makes none");
  }
  const Window window = make_window(sizeof(std::uint64_t));
  if (attribute_of(window.get(), MPI_WIN_MODEL, MPI_WIN_SEPARATE) != MPI_WIN_UNIFIED) {
    throw Error(ExitCode::run_failed,
                "mpi:rma needs windows of the unified memory model; this MPI keeps two copies of their memory");
  }
}

MpiWindow MpiOneSided::make_window(std::size_t bytes) {
  Window window(communicator_.get(), bytes, fenced() ? MpiCompletion::fence : MpiCompletion::flush);
  if (fenced()) window_ = window.get();
  return window;
}

std::string MpiOneSided::describe_one_sided_json() const {
  if (operations_ == MpiOperations::messages) return "{}";
  return JsonObject()
      .add("rma", fenced() ? "fence" : "flush")
      .add("window", "MPI_Win_allocate")
      .add("memory_model", "unified")
      .add("epoch", fenced() ? "MPI_Win_fence" : "MPI_Win_lock_all")
      .add("write_order", "not promised by MPI")
      .add("wait_operations", "complete at the target")
      .text();
}

}  // namespace chiplog

#endif
