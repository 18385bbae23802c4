// Which ranks of a job run on this node and have the library, found without the MPI: a rank without the library takes
// no part in anything but the MPI's own calls, so it can't be asked by messages.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/node_memory.hpp"

namespace chiplog::collectives {

// Each process binds a socket in the system's abstract namespace, whose name says its group, its rank and where its
// board is. Nothing is ever sent there: that the name exists is the message. It vanishes with the process, however that
// ends.
class Roster {
 public:
  // `group` tells apart jobs, and whatever else members must have in common; it is of letters, digits and '-', at most
  // 40 of them.
  explicit Roster(std::string group) : group_(std::move(group)) {}
  ~Roster();
  Roster(const Roster&) = delete;
  Roster& operator=(const Roster&) = delete;

  // From now on the others find this process under `rank`. False where the system refuses, or shows no names. `board`
  // stays open.
  [[nodiscard]] bool announce(int rank, const NodeMemoryAddress& board);

  // True if all these ranks have been announced on this node. All of them get the same answer, once all have announced
  // themselves that ever will.
  [[nodiscard]] bool has(std::span<const int> ranks);

  // The boards of ranks that it has, mapped, in their order; empty if one of them can't be opened. They stay mapped.
  [[nodiscard]] std::vector<std::byte*> boards_of(std::span<const int> ranks, std::size_t board_bytes);

 private:
  struct Found {
    NodeMemoryAddress address;
    NodeMemory board;  // empty until it has been opened
  };

  void read_names();

  std::string group_;
  int socket_ = -1;
  std::mutex mutex_;
  std::map<int, Found> found_;  // by rank
};

// A line of /proc/net/unix, or any text: the board announced there under `group`, and its rank. False for all else.
[[nodiscard]] bool parse_announcement(const std::string& line, const std::string& group, int& rank,
                                      NodeMemoryAddress& board);

}  // namespace chiplog::collectives
