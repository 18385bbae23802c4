// The barrier of one communicator.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "collectives/mpi/leaders.hpp"
#include "collectives/mpi/node_part.hpp"
#include "collectives/mpi/progress.hpp"
#include "collectives/node_flags.hpp"
#include "collectives/patience.hpp"

namespace chiplog::collectives {

// The ranks of a node meet in shared memory, one of each node exchanges messages with the others', then it releases
// those of its node. Each part is left out where there is nothing for it to do.
class Barrier {
 public:
  // `leaders` is null where all ranks share one node, and on ranks other than their node's first.
  Barrier(NodePart node, std::unique_ptr<Leaders> leaders, bool one_node)
      : node_(std::move(node)),
        flags_(node_.node_flags()),
        leaders_(std::move(leaders)),
        progress_(node_.alone() ? nullptr : std::make_unique<Progress>()),
        one_node_(one_node) {}

  // MPI_SUCCESS, or the MPI's error.
  int wait() { return one_node_ ? flags_.meet(waiting()) : between_nodes(); }

  // Whether the flags of two ranks are all there is, and each of them has a core. Then barriers may be done by what is
  // lent, as NodeFlags tells.
  [[nodiscard]] bool is_pair() const { return one_node_ && !node_.patience.crowded && flags_.is_pair(); }
  [[nodiscard]] PairFlags lend() const { return flags_.lend(); }
  void take_back(const PairFlags& lent) { flags_.take_back(lent); }
  int wait_for_late() { return flags_.meet_late(waiting()); }

 private:
  [[nodiscard]] Waiting<ProgressOfWait> waiting() const { return {node_.patience, ProgressOfWait(progress_.get())}; }

  int between_nodes() {
    int error = node_.alone() ? MPI_SUCCESS : flags_.gather(waiting());
    if (error == MPI_SUCCESS && leaders_) error = leaders_->run();
    if (error == MPI_SUCCESS && !node_.alone()) error = flags_.release(waiting());
    return error;
  }

  NodePart node_;
  NodeFlags flags_;
  std::unique_ptr<Leaders> leaders_;
  std::unique_ptr<Progress> progress_;  // null for a rank alone on its node
  bool one_node_;
};

}  // namespace chiplog::collectives
