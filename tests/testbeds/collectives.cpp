// Times a dissemination barrier, a binomial broadcast and a ring allreduce, written as chiplog's schedules have them.
// Arguments: ALGORITHM:BYTES ... Rank 0 prints a line for each: algorithm, bytes, seconds.
// Seconds are from a moment at which all ranks start to the end of the last one.
#include <mpi.h>
#include <time.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr double kMargin = 1e-3;

int rank_of_this;
int ranks;
std::vector<char> outgoing;
std::vector<char> incoming;

void exchange(int to, std::size_t sent, int from, std::size_t received) {
  MPI_Request request;
  MPI_Irecv(incoming.data(), static_cast<int>(received), MPI_CHAR, from, 0, MPI_COMM_WORLD, &request);
  MPI_Send(outgoing.data(), static_cast<int>(sent), MPI_CHAR, to, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Sends that wait for their receive would wait in a circle, so that these are posted both.
void exchange_large(int to, std::size_t sent, int from, std::size_t received) {
  MPI_Request requests[2];
  MPI_Irecv(incoming.data(), static_cast<int>(received), MPI_CHAR, from, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(outgoing.data(), static_cast<int>(sent), MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

void dissemination(std::size_t bytes) {
  for (int distance = 1; distance < ranks; distance *= 2)
    exchange((rank_of_this + distance) % ranks, bytes, (rank_of_this - distance + ranks) % ranks, bytes);
}

void binomial(std::size_t bytes) {
  int distance = 1;
  while (distance <= rank_of_this) distance *= 2;
  if (rank_of_this > 0)
    MPI_Recv(incoming.data(), static_cast<int>(bytes), MPI_CHAR, rank_of_this - distance / 2, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  for (; rank_of_this + distance < ranks; distance *= 2)
    MPI_Send(incoming.data(), static_cast<int>(bytes), MPI_CHAR, rank_of_this + distance, 0, MPI_COMM_WORLD);
}

std::size_t share(std::size_t bytes, int number) {
  const auto many = static_cast<std::size_t>(ranks);
  return bytes / many + (static_cast<std::size_t>(number) < bytes % many ? 1 : 0);
}

void ring(std::size_t bytes) {
  const auto wrapped = [](int number) { return ((number % ranks) + ranks) % ranks; };
  for (const int first : {0, 1}) {
    for (int step = 0; step < ranks - 1; ++step) {
      const int sent = wrapped(rank_of_this + first - step);
      exchange_large(wrapped(rank_of_this + 1), share(bytes, sent), wrapped(rank_of_this - 1),
                     share(bytes, wrapped(sent - 1)));
    }
  }
}

// All ranks leave at the same moment of the simulated clock.
double start_together() {
  double latest = 0.0;
  const double now = MPI_Wtime();
  MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double wait = latest + kMargin - MPI_Wtime();
  const timespec pause = {0, std::lround(wait * 1e9)};
  nanosleep(&pause, nullptr);
  return latest + kMargin;
}

double measure(const std::string& algorithm, std::size_t bytes) {
  outgoing.assign(bytes, 0);
  incoming.assign(bytes, 0);
  const double start = start_together();
  if (algorithm == "dissemination") dissemination(bytes);
  if (algorithm == "binomial") binomial(bytes);
  if (algorithm == "ring") ring(bytes);
  const double own = MPI_Wtime() - start;
  double longest = 0.0;
  MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return longest;
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_this);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int index = 1; index < count; ++index) {
    const std::string word = words[index];
    const std::size_t colon = word.find(':');
    const std::size_t bytes = std::stoul(word.substr(colon + 1));
    const double seconds = measure(word.substr(0, colon), bytes);
    if (rank_of_this == 0) std::printf("%s %zu %.12e\n", word.substr(0, colon).c_str(), bytes, seconds);
  }
  MPI_Finalize();
}
