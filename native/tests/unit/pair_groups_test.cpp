#include "core/pair_groups.hpp"

#include <gtest/gtest.h>

namespace chiplog {
namespace {

using Ranks = std::vector<Rank>;
using Places = std::vector<std::optional<Cpu>>;

TEST(PairGroups, OfSeveralNodesAreEveryTwoOfThem) {
  const std::vector<Node> nodes{{"a", {0, 1, 2}}, {"b", {3, 4}}, {"c", {5}}};
  const std::vector<PairGroups> groups = find_pair_groups(nodes, Places(6));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].between, (std::array<std::string, 2>{"a", "b"}));
  EXPECT_EQ(groups[0].clients, (Ranks{0, 1}));
  EXPECT_EQ(groups[0].servers, (Ranks{3, 4}));
  EXPECT_EQ(groups[2].between, (std::array<std::string, 2>{"b", "c"}));
  EXPECT_EQ(groups[2].clients, (Ranks{3}));
}

TEST(PairGroups, OfOneNodeAreItsSockets) {
  const Places places{Cpu{0, 0, 0}, Cpu{1, 1, 1}, Cpu{2, 0, 0}, Cpu{3, 1, 1}};
  const std::vector<PairGroups> groups = find_pair_groups({{"a", {0, 1, 2, 3}}}, places);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].between, (std::array<std::string, 2>{"a socket 0", "a socket 1"}));
  EXPECT_EQ(groups[0].clients, (Ranks{0, 2}));
  EXPECT_EQ(groups[0].servers, (Ranks{1, 3}));
}

TEST(PairGroups, OfOneSocketAreItsNumaNodesOrCaches) {
  const Places numa{Cpu{0, 0, 0}, Cpu{1, 0, 1}};
  EXPECT_EQ(find_pair_groups({{"a", {0, 1}}}, numa)[0].between[1], "a NUMA node 1");
  const Places caches{Cpu{0, 0, 0, 0}, Cpu{4, 0, 0, 4}};
  EXPECT_EQ(find_pair_groups({{"a", {0, 1}}}, caches)[0].between[1], "a cache of CPU 4");
}

// Ranks that take turns on one core would measure nothing as a pair.
TEST(PairGroups, OfOneCacheAreTheHalvesOfItsCores) {
  const Places places{Cpu{0}, Cpu{1}, Cpu{0}, Cpu{1}};
  const PairGroups four = find_pair_groups({{"a", {0, 1, 2, 3}}}, places)[0];
  EXPECT_EQ(four.clients, (Ranks{0, 2}));
  EXPECT_EQ(four.servers, (Ranks{1, 3}));
  const PairGroups three = find_pair_groups({{"a", {0, 1, 2}}}, places)[0];
  EXPECT_EQ(three.clients, (Ranks{0}));
  EXPECT_EQ(three.servers, (Ranks{1}));
}

TEST(PairGroups, OfRanksThatAreNotBoundAreTheirHalves) {
  const PairGroups groups = find_pair_groups({{"a", {0, 1, 2, 3, 4}}}, Places(5))[0];
  EXPECT_EQ(groups.clients, (Ranks{0, 1}));
  EXPECT_EQ(groups.servers, (Ranks{3, 4}));
}

TEST(PairGroups, KnowRolesAndPartners) {
  const PairGroups groups{{"a", "b"}, {0, 1}, {3, 4}};
  EXPECT_EQ(groups.role(1, 2), Role::client);
  EXPECT_EQ(groups.role(1, 1), Role::onlooker);
  EXPECT_EQ(groups.role(3, 1), Role::server);
  EXPECT_EQ(groups.role(2, 2), Role::onlooker);
  EXPECT_EQ(groups.partner(1), 4);
  EXPECT_EQ(groups.partner(3), 0);
}

}  // namespace
}  // namespace chiplog
