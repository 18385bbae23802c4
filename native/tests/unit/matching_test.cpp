#include "simulation/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <tuple>
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
  OperationStates states(operations.size());
  ExactMatching matching(schedule, states);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint32_t>> reference;
  std::mt19937 random(1);
  for (std::uint32_t operation = 0; operation < operations.size(); ++operation) {
    const std::uint32_t keys = operation < 20000 ? 500 : 3;
    const std::pair<std::uint32_t, std::uint32_t> key{random() % keys, random() % 2};
    std::deque<std::uint32_t>& waiting = reference[key];
    std::uint32_t expected = no_operation;
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

TEST(WildcardMatching, GivesTheOldestMessageToAReceiveAndTheOldestReceiveToAMessage) {
  std::vector<Operation> operations = alternating(20000);
  std::mt19937 random(1);
  const auto key_of = [&](bool is_send) {
    const std::uint32_t source = !is_send && random() % 3 == 0 ? wildcard : static_cast<std::uint32_t>(random() % 20);
    const std::uint32_t tag = !is_send && random() % 3 == 0 ? wildcard : random() % 2;
    return std::pair{source, tag};
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> keys;
  for (Operation& one : operations) {
    keys.push_back(key_of(one.kind == Kind::send));
    if (one.kind == Kind::receive) std::tie(one.peer, one.tag) = keys.back();
  }
  const Schedule schedule{2, operations, {}, {}};
  OperationStates states(operations.size());
  WildcardMatching matching(schedule, states);
  const auto agree = [](std::uint32_t a, std::uint32_t b) { return a == b || a == wildcard || b == wildcard; };
  std::vector<std::uint32_t> waiting;  // in the order in which they came
  for (std::uint32_t operation = 0; operation < operations.size(); ++operation) {
    const auto [source, tag] = keys[operation];
    const auto met = std::find_if(waiting.begin(), waiting.end(), [&, source = source, tag = tag](std::uint32_t one) {
      return operations[one].kind != operations[operation].kind && agree(keys[one].first, source) &&
             agree(keys[one].second, tag);
    });
    const std::uint32_t expected = met == waiting.end() ? no_operation : *met;
    if (met == waiting.end()) {
      waiting.push_back(operation);
    } else {
      waiting.erase(met);
    }
    ASSERT_EQ(matching.meet(1, source, tag, operation), expected);
  }
  std::vector<std::uint32_t> left = matching.waiting();
  std::sort(left.begin(), left.end());
  std::sort(waiting.begin(), waiting.end());
  EXPECT_EQ(left, waiting);
}

}  // namespace
}  // namespace chiplog::simulation
