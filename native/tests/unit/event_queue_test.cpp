#include "simulation/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <queue>
#include <random>
#include <utility>
#include <vector>

namespace chiplog::simulation {
namespace {

using Key = std::pair<Picoseconds, std::uint32_t>;

TEST(EventQueue, PopsByTimeThenOrderLikeAnOrdinaryQueueWhateverIsPushedMeanwhile) {
  std::mt19937_64 random(1);
  EventQueue queue;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> reference;
  std::vector<std::uint32_t> unused_orders;
  std::uint32_t next_order = 0;
  Picoseconds now = 0;
  const auto push = [&] {
    const Picoseconds far = Picoseconds{1} << (random() % 50);
    const Picoseconds time = now + (random() % 3 == 0 ? 0 : static_cast<Picoseconds>(random()) & (far - 1));
    std::uint32_t order = next_order++;
    if (!unused_orders.empty() && random() % 4 == 0) std::swap(order, unused_orders.back());  // pushed late
    if (random() % 4 == 0) unused_orders.push_back(next_order++);
    queue.push({time, order, 0, Action::calc});
    reference.push({time, order});
  };
  for (int step = 0; step < 20000; ++step) {
    for (std::uint64_t pushes = random() % 4; pushes > 0; --pushes) push();
    if (reference.empty()) continue;
    ASSERT_FALSE(queue.empty());
    const Event event = queue.pop();
    ASSERT_EQ((Key{event.time(), event.order()}), reference.top());
    reference.pop();
    now = event.time();
  }
  while (!reference.empty()) {
    const Event event = queue.pop();
    ASSERT_EQ((Key{event.time(), event.order()}), reference.top());
    reference.pop();
  }
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, SortsManyEventsOfOneTimeByOrdersOfAnySize) {
  for (const std::uint32_t span : {5000U, 1U << 20, 1U << 30}) {
    std::mt19937_64 random(span);
    EventQueue queue;
    std::vector<std::uint32_t> orders(5000);
    for (std::uint32_t i = 0; i < orders.size(); ++i) orders[i] = 7 + i * (span / 5000);
    std::shuffle(orders.begin(), orders.end(), random);
    for (const std::uint32_t order : orders) queue.push({1000, order, 0, Action::calc});
    std::sort(orders.begin(), orders.end());
    for (const std::uint32_t order : orders) ASSERT_EQ(queue.pop().order(), order);
    EXPECT_TRUE(queue.empty());
  }
}

}  // namespace
}  // namespace chiplog::simulation
