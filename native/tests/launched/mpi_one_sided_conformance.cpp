// The cases of one-sided operations over MPI: compiled with an MPI's own compiler and started by its launcher. With the
// argument "fence", on two ranks: writes that are completed by fences, seen as the patterns see them.

#include <chrono>
#include <cstdio>
#include <exception>
#include <string_view>

#include "bootstrap/mpi.hpp"
#include "conformance/remote_cases.hpp"
#include "patterns/views/remote_writes.hpp"
#include "transports/mpi/mpi.hpp"

namespace {

using chiplog::MpiTransport;
using chiplog::Rank;
namespace cases = chiplog::conformance;

struct Case {
  const char* name;
  void (*run)(MpiTransport& transport, Rank rank, int ranks);
};

constexpr Case all[] = {
    {"a window begins as zeros", cases::a_window_begins_as_zeros},
    {"a write lands exactly once", cases::a_write_lands_exactly_once_and_where_it_was_meant_to_be},
    {"small writes land in order", cases::small_writes_land_in_order},
    {"large writes land in order", cases::large_writes_land_in_order},
    {"a source may be used again", cases::a_source_may_be_used_again_after_waiting},
    {"as many operations as declared", cases::as_many_operations_as_declared_may_be_posted},
    {"writes of several ranks", cases::writes_of_several_ranks_keep_apart},
    {"a read returns what was written", cases::a_read_returns_what_was_written},
    {"fetch-add is atomic", cases::fetch_add_is_atomic_under_several_ranks},
    {"compare-swap changes what it expects", cases::compare_swap_changes_only_what_it_expects},
    {"compare-swap is atomic", cases::compare_swap_is_atomic_under_several_ranks},
};

// Outside is an Error at once, after which MPI goes on.
void a_write_outside_is_an_error(MpiTransport& transport, Rank rank, int /*ranks*/) {
  auto window = transport.make_window(4096);
  auto buffer = transport.make_buffer(16);
  if (rank != 0) return;
  cases::expect_error("a write outside the window", [&] {
    transport.post_write({.peer = 1, .buffer = buffer, .bytes = 8, .window = window, .window_offset = 4090});
    transport.wait_operations();
  });
}

int failures_of(MpiTransport& transport, Rank rank, int ranks) {
  int failures = 0;
  const auto check = [&](const Case& one) {
    try {
      one.run(transport, rank, ranks);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s: %s\n", rank, one.name, error.what());
      ++failures;
    }
  };
  for (const Case& one : all) check(one);
  check({"a write outside is an error", a_write_outside_is_an_error});
  return failures;
}

// There and back, then three one way.
int failures_of_fences(MpiTransport& transport, Rank rank) {
  using Writes = chiplog::views::RemoteWrites<MpiTransport, chiplog::Operation::rdma_write, chiplog::Posting::normal>;
  constexpr std::size_t bytes = 100;
  Writes writes(transport, {.rank = rank, .ranks = 2, .time_limit = std::chrono::seconds(30)});
  writes.reserve(bytes);
  auto buffer = writes.make_buffer(bytes);
  const auto receive = [&](std::uint64_t salt) {
    writes.recv(1 - rank, buffer, bytes);
    const auto landed = writes.landed(1 - rank, buffer, bytes).first(bytes - Writes::counter_bytes);
    return chiplog::find_mismatch(landed, salt) ? 1 : 0;
  };
  const auto send = [&](std::uint64_t salt) {
    chiplog::fill_payload({buffer.data(), bytes - Writes::counter_bytes}, salt);
    writes.send(1 - rank, buffer, bytes);
  };
  int failures = 0;
  for (std::uint64_t round = 0; round < 300; ++round) {
    if (rank == 0) send(round);
    failures += receive(rank == 0 ? round + 1 : round);
    if (rank == 1) send(round + 1);
  }
  for (int i = 0; i < 3; ++i) {
    if (rank == 0) writes.post_send(1, buffer, bytes);
    if (rank == 1) writes.recv(0, buffer, bytes);
  }
  writes.wait_sends();
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  chiplog::MpiLibrary library(argc, argv);
  chiplog::MpiBootstrap bootstrap(std::chrono::seconds(30));
  const bool fences = argc > 1 && std::string_view(argv[1]) == "fence";
  int failures = 0;
  {
    MpiTransport transport(fences ? chiplog::MpiOperations::fenced : chiplog::MpiOperations::flushed);
    failures = fences ? failures_of_fences(transport, bootstrap.rank())
                      : failures_of(transport, bootstrap.rank(), bootstrap.size());
  }
  if (failures != 0) chiplog::MpiLibrary::abort(1);
  if (bootstrap.rank() == 0) std::puts("conforms");
  return 0;
}
