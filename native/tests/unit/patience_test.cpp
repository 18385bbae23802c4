#include "collectives/patience.hpp"

#include <gtest/gtest.h>

namespace chiplog::collectives {
namespace {

// How often a wait of so many turns does the MPI's work.
int progress_of(Patience patience, int turns) {
  int calls = 0;
  Waiting waiting(patience, [&calls] {
    ++calls;
    return 0;
  });
  for (int turn = 0; turn < turns; ++turn) EXPECT_EQ(waiting(), 0);
  return calls;
}

TEST(Waiting, DoesTheMpisWorkAtEveryTurn) { EXPECT_EQ(progress_of({.crowded = false}, 40), 40); }

TEST(Waiting, LeavesTheFirstTurnsToOthersWhereCoresAreShared) { EXPECT_EQ(progress_of({.crowded = true}, 4), 0); }

TEST(Waiting, DoesTheMpisWorkAtEveryTurnOfALongWaitWhereCoresAreShared) {
  EXPECT_EQ(progress_of({.crowded = true}, 40), 36);
}

TEST(Waiting, ReturnsTheMpisError) {
  constexpr int error = 17;
  Waiting waiting(Patience{}, [] { return error; });
  EXPECT_EQ(waiting(), error);
}

}  // namespace
}  // namespace chiplog::collectives
