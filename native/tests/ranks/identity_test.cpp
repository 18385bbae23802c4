#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "bootstrap/bootstraps.hpp"
#include "outcome.hpp"

namespace chiplog::testing {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<LauncherIdentity> identity_in(const Variables& variables) {
  return launcher_identity([&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

void expect_identity(const Variables& variables, Rank rank, int size, const std::string& launcher) {
  const auto identity = identity_in(variables);
  ASSERT_TRUE(identity) << launcher;
  EXPECT_EQ(identity->rank, rank) << launcher;
  EXPECT_EQ(identity->size, size) << launcher;
  EXPECT_EQ(identity->launcher, launcher);
}

TEST(LauncherIdentity, IsReadFromEachLaunchersVariables) {
  expect_identity({{"CHIPLOG_RANK", "1"}, {"CHIPLOG_SIZE", "2"}}, 1, 2, "chiplog");
  expect_identity({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}}, 3, 4, "Open MPI");
  expect_identity({{"PMI_RANK", "0"}, {"PMI_SIZE", "64"}}, 0, 64, "PMI");
  expect_identity({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "6"}}, 5, 6, "Slurm");
  expect_identity({{"PMIX_RANK", "2"}, {"SLURM_NTASKS", "3"}, {"SLURM_PROCID", "2"}}, 2, 3, "PMIx");
}

TEST(LauncherIdentity, OwnVariablesComeFirstAndOpenMpisBeforePmix) {
  const Variables all{{"CHIPLOG_RANK", "1"},
                      {"CHIPLOG_SIZE", "2"},
                      {"OMPI_COMM_WORLD_RANK", "3"},
                      {"OMPI_COMM_WORLD_SIZE", "4"},
                      {"PMIX_RANK", "3"},
                      {"PMI_RANK", "5"},
                      {"PMI_SIZE", "6"},
                      {"SLURM_PROCID", "7"},
                      {"SLURM_NTASKS", "8"}};
  expect_identity(all, 1, 2, "chiplog");
  Variables without_own = all;
  without_own.erase("CHIPLOG_RANK");
  without_own.erase("CHIPLOG_SIZE");
  expect_identity(without_own, 3, 4, "Open MPI");
}

TEST(LauncherIdentity, IsNothingWithoutALauncher) {
  EXPECT_FALSE(identity_in({}));
  EXPECT_FALSE(identity_in({{"PMIX_RANK", "0"}})) << "a rank without a size tells nothing";
  EXPECT_FALSE(identity_in({{"SLURM_NTASKS", "4"}})) << "an allocation without a task in it";
}

TEST(LauncherIdentity, OneOwnVariableAloneIsAMistake) {
  EXPECT_EQ(outcome_of([] { identity_in({{"CHIPLOG_RANK", "1"}}); }),
            "UsageError: environment variable CHIPLOG_SIZE is missing: it goes with CHIPLOG_RANK");
  EXPECT_EQ(outcome_of([] { identity_in({{"CHIPLOG_SIZE", "1"}}); }),
            "UsageError: environment variable CHIPLOG_RANK is missing: it goes with CHIPLOG_SIZE");
}

TEST(LauncherIdentity, MalformedValuesNameTheVariable) {
  EXPECT_EQ(outcome_of([] { identity_in({{"CHIPLOG_RANK", "2"}, {"CHIPLOG_SIZE", "2"}}); }),
            "UsageError: environment variable CHIPLOG_RANK accepts a whole number from 0 to 1, not '2'");
  for (const std::string value : {"", "-1", "1x", "99999999999999999999", "0x1", " 1"}) {
    EXPECT_EQ(kind_of(outcome_of([&] { identity_in({{"PMI_RANK", value}, {"PMI_SIZE", "4"}}); })), "UsageError")
        << "'" << value << "'";
    EXPECT_EQ(kind_of(outcome_of([&] { identity_in({{"PMI_RANK", "0"}, {"PMI_SIZE", value}}); })), "UsageError")
        << "'" << value << "'";
  }
}

TEST(RendezvousPoint, IsHostAndPort) {
  EXPECT_EQ(parse_rendezvous_point("10.0.0.1:4711").host, "10.0.0.1");
  EXPECT_EQ(parse_rendezvous_point("10.0.0.1:4711").port, 4711);
  EXPECT_EQ(parse_rendezvous_point("[::1]:65535").host, "::1");
  for (const std::string text : {"", ":", "host", "host:", ":1", "host:0", "host:65536", "host:1x", "::1:5", "[]:5"}) {
    EXPECT_EQ(kind_of(outcome_of([&] { (void)parse_rendezvous_point(text); })), "UsageError") << "'" << text << "'";
  }
}

}  // namespace
}  // namespace chiplog::testing
