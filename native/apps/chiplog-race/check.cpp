#include "check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "chiplog-bench/clock.hpp"

namespace chiplog::race {
namespace {

using Words = std::vector<std::uint32_t>;

struct Place {
  int rank = 0;
  int ranks = 0;
};

Place place_in(MPI_Comm world) {
  Place place;
  PMPI_Comm_rank(world, &place.rank);
  PMPI_Comm_size(world, &place.ranks);
  return place;
}

unsigned number_of(int rank, std::size_t at) {
  return static_cast<unsigned>((static_cast<unsigned>(rank) * 5U + at * 3U + (at >> 8U)) % 8U);
}

unsigned char byte_of(int rank, std::size_t at) { return static_cast<unsigned char>(1U << number_of(rank, at)); }

unsigned char of_all_ranks(int ranks, std::size_t at) {
  unsigned all = 0;
  for (int rank = 0; rank < ranks; ++rank) all |= byte_of(rank, at);
  return static_cast<unsigned char>(all);
}

// What byte `at` of the result is, on a rank that has one.
unsigned char expected(const std::string& operation, const Place& place, std::size_t bytes, std::size_t at) {
  const auto source = static_cast<int>(at / bytes);
  const std::size_t mine = static_cast<std::size_t>(place.rank) * bytes;
  if (operation == "bcast") return byte_of(0, at);
  if (operation == "gather" || operation == "allgather") return byte_of(source, at % bytes);
  if (operation == "scatter") return byte_of(0, mine + at);
  if (operation == "alltoall") return byte_of(source, mine + at % bytes);
  return of_all_ranks(place.ranks, operation == "reduce_scatter" ? mine + at : at);
}

std::size_t result_bytes(const std::string& operation, const Place& place, std::size_t bytes) {
  const bool is_of_root = operation == "reduce" || operation == "gather";
  if (operation == "barrier" || (is_of_root && place.rank != 0)) return 0;
  const bool has_all_blocks = operation == "gather" || operation == "allgather" || operation == "alltoall";
  return has_all_blocks ? bytes * static_cast<std::size_t>(place.ranks) : bytes;
}

bool is_reduction(const std::string& operation) {
  return operation == "reduce" || operation == "allreduce" || operation == "reduce_scatter";
}

// Numbers small enough for their sum to be exact in any datatype.
template <class Number>
void fill_numbers(const Place& place, std::size_t room, char* buffer) {
  for (std::size_t at = 0; at < room / sizeof(Number); ++at) {
    const auto number = static_cast<Number>(number_of(place.rank, at));
    std::memcpy(buffer + at * sizeof number, &number, sizeof number);
  }
}

template <class Number>
bool has_wrong_sums(const Place& place, std::size_t size, std::size_t first, const char* buffer) {
  for (std::size_t at = 0; at < size / sizeof(Number); ++at) {
    Number sum = 0;
    for (int rank = 0; rank < place.ranks; ++rank) sum += static_cast<Number>(number_of(rank, first + at));
    if (std::memcmp(buffer + at * sizeof sum, &sum, sizeof sum) != 0) return true;
  }
  return false;
}

// Each rank's own part, and nothing where the result will be.
void fill(const std::string& operation, const Place& place, std::size_t room, bench::Buffers& buffers) {
  std::fill_n(buffers.receive(), room, '\0');
  const std::string type = is_reduction(operation) ? buffers.datatype().name : "byte";
  if (type == "int") return fill_numbers<int>(place, room, buffers.send());
  if (type == "double") return fill_numbers<double>(place, room, buffers.send());
  const bool starts_empty = operation == "bcast" && place.rank != 0;
  for (std::size_t at = 0; at < room; ++at) {
    buffers.send()[at] = starts_empty ? '\0' : static_cast<char>(byte_of(place.rank, at));
  }
}

bool has_wrong_result(const std::string& operation, const Place& place, std::size_t bytes, bench::Buffers& buffers) {
  const char* result = operation == "bcast" ? buffers.send() : buffers.receive();
  const std::size_t size = result_bytes(operation, place, bytes);
  const std::string type = is_reduction(operation) ? buffers.datatype().name : "byte";
  const auto block = operation == "reduce_scatter" ? static_cast<std::size_t>(place.rank * buffers.count()) : 0;
  if (type == "int") return has_wrong_sums<int>(place, size, block, result);
  if (type == "double") return has_wrong_sums<double>(place, size, block, result);
  for (std::size_t at = 0; at < size; ++at) {
    if (static_cast<unsigned char>(result[at]) != expected(operation, place, bytes, at)) return true;
  }
  return false;
}

// A word stands for the function x -> a x + b modulo a prime, a above b; one after the other does not commute.
constexpr std::uint32_t prime = 65521;

std::uint32_t composed(std::uint32_t first, std::uint32_t second) {
  const std::uint32_t a = (first >> 16U) * (second >> 16U) % prime;
  const std::uint32_t b = ((first >> 16U) * (second & 0xFFFFU) + (first & 0xFFFFU)) % prime;
  return (a << 16U) | b;
}

void compose(void* left, void* right, int* count, MPI_Datatype*) {
  const auto* first = static_cast<const std::uint32_t*>(left);
  auto* second = static_cast<std::uint32_t*>(right);
  for (int at = 0; at < *count; ++at) second[at] = composed(first[at], second[at]);
}

std::uint32_t word_of(int rank, std::size_t at) {
  return ((static_cast<std::uint32_t>(rank) * 7U + static_cast<std::uint32_t>(at % 1000) + 2U) << 16U) |
         (static_cast<std::uint32_t>(rank) + 3U);
}

std::uint32_t word_of_all(int ranks, std::size_t at) {
  std::uint32_t all = word_of(0, at);
  for (int rank = 1; rank < ranks; ++rank) all = composed(all, word_of(rank, at));
  return all;
}

int reduced(const std::string& operation, Words& send, Words& result, MPI_Op op, MPI_Comm world) {
  const int words = static_cast<int>(result.size());
  if (operation == "reduce") {
    return PMPI_Reduce(send.data(), result.data(), words, MPI_UINT32_T, op, 0, world);
  }
  if (operation == "allreduce") return PMPI_Allreduce(send.data(), result.data(), words, MPI_UINT32_T, op, world);
  const std::vector<int> counts(send.size() / result.size(), words);
  return PMPI_Reduce_scatter(send.data(), result.data(), counts.data(), MPI_UINT32_T, op, world);
}

bool has_mixed_the_order(const std::string& operation, int bytes, MPI_Comm world) {
  const Place place = place_in(world);
  const std::size_t words = std::max<std::size_t>(1, static_cast<std::size_t>(bytes) / sizeof(std::uint32_t));
  const std::size_t blocks = operation == "reduce_scatter" ? static_cast<std::size_t>(place.ranks) : 1;
  const std::size_t first = blocks > 1 ? words * static_cast<std::size_t>(place.rank) : 0;
  Words send(words * blocks);
  Words result(words);
  for (std::size_t at = 0; at < send.size(); ++at) send[at] = word_of(place.rank, at);
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create(compose, 0, &op);
  bool wrong = reduced(operation, send, result, op, world) != MPI_SUCCESS;
  PMPI_Op_free(&op);
  const bool has_result = operation != "reduce" || place.rank == 0;
  for (std::size_t at = 0; has_result && !wrong && at < words; ++at) {
    wrong = result[at] != word_of_all(place.ranks, first + at);
  }
  return wrong;
}

bool anywhere(bool mine, MPI_Comm meet) {
  const int here = mine ? 1 : 0;
  int any = 0;
  PMPI_Allreduce(&here, &any, 1, MPI_INT, MPI_MAX, meet);
  return any != 0;
}

}  // namespace

FirstCall first_call(const std::string& operation, const bench::Timed& timed, bool checks) {
  const MPI_Comm meet = timed.meet;
  const Place place = place_in(timed.world);
  const auto bytes = static_cast<std::size_t>(timed.buffers.bytes());
  const bool has_data = checks && bytes > 0;
  if (has_data) fill(operation, place, bytes * static_cast<std::size_t>(place.ranks), timed.buffers);
  PMPI_Barrier(meet);
  const double begin = bench::now_ns();
  const bool refused = timed.call(timed.buffers, timed.world) != MPI_SUCCESS;
  double took = bench::now_ns() - begin;
  PMPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, meet);
  if (anywhere(refused, meet)) return {took, true, false};
  return {took, false, has_data && anywhere(has_wrong_result(operation, place, bytes, timed.buffers), meet)};
}

bool mixes_the_order(const std::string& operation, int bytes, MPI_Comm world, MPI_Comm meet) {
  return is_reduction(operation) && anywhere(has_mixed_the_order(operation, bytes, world), meet);
}

}  // namespace chiplog::race
