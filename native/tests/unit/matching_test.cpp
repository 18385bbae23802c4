#include "simulation/matching.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace chiplog::simulation {
namespace {

// Sends and receives by turns; only their kind matters to what meets what.
std::vector<Operation> alternating(std::size_t count) {
  std::vector<Operation> operations(count);
  for (std::size_t i = 0; i < count; ++i) operations[i].kind = i % 2 == 0 ? Kind::send : Kind::receive;
  return operations;
}

TEST(ExactMatching, ServesEachKeyInOrderWhileItsTableGrowsAndShrinks) {
  const std::vector<Operation> operations = alternating(40000);
  const Schedule schedule{2, operations, {}, {}};
  Links links(operations.size());
  ExactMatching matching(schedule, links);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint32_t>> reference;
  std::mt19937 random(1);
  for (std::uint32_t operation = 0; operation < operations.size(); ++operation) {
    const std::uint32_t keys = operation < 20000 ? 500 : 3;
    const std::pair<std::uint32_t, std::uint32_t> key{random() % keys, random() % 2};
    std::deque<std::uint32_t>& waiting = reference[key];
    std::uint32_t expected = kNone;
    if (!waiting.empty() && operations[waiting.front()].kind != operations[operation].kind) {
      expected = waiting.front();
      waiting.pop_front();
    } else {
      waiting.push_back(operation);
    }
    ASSERT_EQ(matching.meet(1, key.first, key.second, operation), expected);
  }
  std::size_t left = 0;
  for (const auto& [key, waiting] : reference) left += waiting.size();
  EXPECT_EQ(matching.waiting().size(), left);
}

}  // namespace
}  // namespace chiplog::simulation
