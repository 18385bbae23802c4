#include "collectives/handle_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "core/random.hpp"

namespace chiplog::collectives {
namespace {

struct Value {
  int number = 0;
};
using Table = HandleTable<int, Value>;

TEST(HandleTable, FindsWhatWasAddedUntilItIsRemoved) {
  Table table;
  Table::Entry& entry = table.add(7, {1});
  EXPECT_EQ(table.find(7), &entry);
  EXPECT_EQ(table.find(8), nullptr);
  table.remove(entry);
  EXPECT_EQ(table.find(7), nullptr);
}

TEST(HandleTable, ComesToTheSameMemoryAgain) {
  Table table;
  Table::Entry& first = table.add(7, {1});
  table.remove(first);
  const Table::Entry& second = table.add(8, {});
  EXPECT_EQ(&second, &first);
  EXPECT_EQ(second.number, 0) << "nothing is left of the first one";
}

TEST(HandleTable, TakesAddresses) {
  std::vector<double> places(1000);
  HandleTable<double*, Value> table;
  for (double& place : places) table.add(&place, {static_cast<int>(&place - places.data())});
  for (double& place : places) EXPECT_EQ(table.find(&place)->number, &place - places.data());
}

TEST(HandleTable, GoesOverAll) {
  Table table;
  for (int handle = 0; handle < 2000; ++handle) table.add(handle, {});
  std::set<int> seen;
  table.for_each([&](const Table::Entry& entry) { EXPECT_TRUE(seen.insert(entry.handle).second); });
  EXPECT_EQ(seen.size(), 2000U);
}

// Against a map, with handles that share chains.
TEST(HandleTable, DoesAsAMapDoes) {
  constexpr int handles = 3000;
  constexpr int turns = 100'000;
  Table table;
  std::map<int, int> expected;
  Random random(1);
  for (int turn = 0; turn < turns; ++turn) {
    const int handle = static_cast<int>(random.bits() % handles);
    Table::Entry* const found = table.find(handle);
    const auto known = expected.find(handle);
    ASSERT_EQ(found != nullptr, known != expected.end());
    if (found == nullptr) {
      table.add(handle, {turn});
      expected[handle] = turn;
    } else {
      ASSERT_EQ(found->number, known->second);
      table.remove(*found);
      expected.erase(known);
    }
  }
}

}  // namespace
}  // namespace chiplog::collectives
