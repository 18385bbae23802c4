// How ranks find their nodes and are bound, in processes of their own.
#include <gtest/gtest.h>

#include <algorithm>

#include "../left_out.hpp"
#include "bootstrap/bootstraps.hpp"
#include "core/machine.hpp"
#include "core/pinning.hpp"
#include "processes.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);

// What rank 0 says in the end.
std::string run_forked(int ranks, const std::function<std::string(Bootstrap&)>& body) {
  Process process([&]() -> std::string {
    const auto bootstrap = make_fork_bootstrap(ranks, patient);
    const std::string text = body(*bootstrap);
    if (bootstrap->rank() != 0) _exit(0);
    return text;
  });
  return process.text();
}

TEST(Nodes, ForkedRanksAreOnOne) {
  EXPECT_EQ(run_forked(3,
                       [](Bootstrap& bootstrap) {
                         const std::vector<Node> nodes = find_nodes(bootstrap);
                         return std::to_string(nodes.size()) + " " + std::to_string(nodes.front().ranks.size());
                       }),
            "1 3");
}

TEST(Nodes, EqualNamesAreNumbered) {
  class SameName : public Bootstrap {
   public:
    [[nodiscard]] Rank rank() const override { return 0; }
    [[nodiscard]] int size() const override { return 3; }
    std::string broadcast(std::string_view blob) override { return std::string(blob); }
    // Every rank says what this one says, but the last is another clone of the same virtual machine.
    std::vector<std::string> gather(std::string_view blob) override {
      const std::string text(blob);
      return {text, text, text == "identity" ? "other" : text};
    }
    void barrier() override {}
    Node node() override { return {"clone", "identity"}; }
  };
  SameName bootstrap;
  const std::vector<Node> nodes = find_nodes(bootstrap);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].name, "clone#1");
  EXPECT_EQ(nodes[0].ranks, (std::vector<Rank>{0, 1}));
  EXPECT_EQ(nodes[1].name, "clone#2");
  EXPECT_EQ(node_of(nodes, 2), 1U);
}

TEST(Pinning, SharesTheCpusOutAmongTheRanksOfANode) {
  const std::size_t allowed = allowed_cpus().size();
  const auto bound = [](Bootstrap& bootstrap) {
    const Binding binding = bind_ranks(parse_pin("filled", 4), bootstrap, find_nodes(bootstrap));
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() != 1) return std::string("not bound");
    std::vector<std::string> all = bootstrap.all_gather(std::to_string(cpus.front()));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return binding.placement + " " + std::to_string(all.size());
  };
  EXPECT_EQ(run_forked(4, bound), "filled " + std::to_string(std::min<std::size_t>(allowed, 4)));
}

[[maybe_unused]] const bool two_cpus_are_noted =
    testing::leave_out("Pinning.LeavesRanksOnTheCpusThatTheirLauncherGaveThem",
                       [] { return allowed_cpus().size() < 2 ? "it needs two CPUs" : ""; });

TEST(Pinning, LeavesRanksOnTheCpusThatTheirLauncherGaveThem) {
  const std::vector<int> allowed = allowed_cpus();
  ASSERT_GE(allowed.size(), 2U);
  const auto bound = [&](Bootstrap& bootstrap) {
    const Rank rank = bootstrap.rank();
    const int given = allowed[1 - static_cast<std::size_t>(rank)];
    (void)bind_ranks(parse_pin(std::to_string(allowed[1]) + "," + std::to_string(allowed[0]), 2), bootstrap,
                     find_nodes(bootstrap));
    const Binding binding = bind_ranks(parse_pin("filled", 2), bootstrap, find_nodes(bootstrap));
    return binding.placement + (allowed_cpus() == std::vector<int>{given} ? "" : " moved");
  };
  EXPECT_EQ(run_forked(2, bound), "launcher");
}

TEST(Pinning, RefusesACpuThatIsNotAllowed) {
  const auto bound = [](Bootstrap& bootstrap) {
    return outcome_of([&] { (void)bind_ranks(parse_pin("1023,1022", 2), bootstrap, find_nodes(bootstrap)); });
  };
  EXPECT_EQ(run_forked(2, bound), "UsageError: --pin: rank 0 may not run on CPU 1023");
}

}  // namespace
}  // namespace chiplog::testing
