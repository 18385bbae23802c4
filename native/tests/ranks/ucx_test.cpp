// What is UCX's own: which networks it takes and says that it takes.
#ifdef CHIPLOG_WITH_UCX
#include "transports/ucx/ucx.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "bootstrap/bootstraps.hpp"
#include "presence.hpp"
#include "processes.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);

struct TheLibrary {
  static std::string missing() {
    return outcome_of([] { const ucx::Library library; });
  }
};

class Ucx : public ::testing::Test {
 protected:
  void SetUp() override { CHIPLOG_REQUIRE_PRESENT(TheLibrary) }
};

[[maybe_unused]] const bool presence_is_noted = testing::leave_out("Ucx.*", testing::left_out_for<TheLibrary>);

// What became of rank 0 of two.
template <class Body>
std::string run_two(const UcxOptions& options, const Body& body) {
  const auto bootstrap = make_fork_bootstrap(2, patient);
  const bool child = bootstrap->rank() != 0;
  std::string outcome = outcome_of([&] {
    UcxTransport transport(*bootstrap, options, patient);
    body(transport, bootstrap->rank());
  });
  if (child) _exit(outcome.empty() ? 0 : 1);
  return outcome;
}

TEST_F(Ucx, NamesWhatWasAskedForWhereThereIsNoSuchTransport) {
  const std::string outcome = run_two({.tls = "no-such"}, [](UcxTransport&, Rank) {});
  EXPECT_TRUE(outcome.starts_with("Error: UCX can't start with tls no-such")) << outcome;
}

TEST_F(Ucx, SaysWhichNetworksItUses) {
  std::string json;
  const std::string outcome =
      run_two({.tls = "tcp", .devices = "lo"}, [&](UcxTransport& transport, Rank) { json = transport.options_json(); });
  EXPECT_EQ(outcome, "");
  for (const char* part : {R"("tls":"tcp")", R"("device":"lo")", R"("lanes":["tcp/lo)", R"("version":"1.)"}) {
    EXPECT_TRUE(json.find(part) != std::string::npos) << part << " in " << json;
  }
}

TEST_F(Ucx, RefusesAtomicOperationsBetweenWords) {
  const std::string outcome = run_two({.tls = "shm"}, [](UcxTransport& transport, Rank rank) {
    auto window = transport.make_window(64);
    auto buffer = transport.make_buffer(8);
    if (rank == 0) transport.post_fetch_add({.peer = 1, .buffer = buffer, .window = window, .window_offset = 4}, 1);
    if (rank == 1) transport.recv(0, buffer, 8);
  });
  EXPECT_TRUE(outcome.find("an atomic operation at 4 of a window") != std::string::npos) << outcome;
}

}  // namespace
}  // namespace chiplog::testing
#endif
