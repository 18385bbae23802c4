// Memory that all ranks of a run share.
#pragma once

#include <cstddef>
#include <memory>

#include "transports/rank_memory.hpp"

namespace chiplog::shm {

// Collective. The memory is zeroed. Throws Error on all ranks if one of them can't have it.
[[nodiscard]] std::unique_ptr<RankMemory> share_memory(Bootstrap& bootstrap, std::size_t bytes);

}  // namespace chiplog::shm
