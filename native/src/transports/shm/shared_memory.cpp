#include "transports/shm/shared_memory.hpp"

#include <string>

#include "chiplog/error.hpp"
#include "core/failures.hpp"

namespace chiplog::shm {

std::unique_ptr<RankMemory> share_memory(Bootstrap& bootstrap, std::size_t bytes) {
  auto memory = std::make_unique<RankMemory>(bootstrap, 0, bytes);
  Rank rank = 0;
  for (const std::string& failure : memory->failures()) {
    if (!failure.empty()) {
      throw Error(ExitCode::run_failed,
                  name_of(rank) + " can't open the shared memory of rank 0, of " + std::to_string(bytes) + " bytes (" +
                      failure + "): shared memory needs all ranks on one host, of one user and in one PID namespace");
    }
    ++rank;
  }
  return memory;
}

}  // namespace chiplog::shm
