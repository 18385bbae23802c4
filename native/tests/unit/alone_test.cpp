// What a node does by itself: on a simulated network to the nanosecond, and how processes are read.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "core/other_programs.hpp"
#include "simulated_run.hpp"

namespace chiplog {
namespace {

using testing::Json;

TEST(Alone, ASlowCpuTakesLongerForTheSameWork) {
  const std::string series =
      R"({"pattern":"fixed_work","message_bytes":0},{"pattern":"memory_copy","message_bytes":0})";
  const Json record =
      testing::run_simulated("sim:L=5us,o=1us,g=4us,G=1ns,slow=3:2,ranks=4", testing::request_for(series))
          .of_type("record")
          .at(0);
  for (const Json& one : record.at("series")) {
    ASSERT_EQ(one.at("by_pair").size(), 4U);
    EXPECT_EQ(one.at("messages"), 0);
    for (const Json& rank : one.at("by_pair")) {
      EXPECT_EQ(rank.at("client"), rank.at("server"));
      const double factor = rank.at("client") == 2 ? 3.0 : 1.0;
      for (const double sample_ns : rank.at("samples_ns")) EXPECT_DOUBLE_EQ(sample_ns, factor * 1e6);
    }
  }
}

TEST(OtherPrograms, AreReadFromTheirStateWhateverTheirNames) {
  const std::string text =
      "812 (a) b (c)) S 1 812 812 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 98765 1000 20 18446744073709551615 1 1 0 "
      "0 "
      "0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n";
  const auto stat = parse_process_stat(text);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->name, "a) b (c)");
  EXPECT_EQ(stat->cpu_ticks, 300U);
  EXPECT_EQ(stat->started, 98765U);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 1);
  EXPECT_EQ(stat->session, 812);
}

TEST(OtherPrograms, OneThatRunsInItsOwnSessionIsRunnable) {
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) asm volatile("");
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_GE(runnable_threads_of_others(), 1.0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST(OtherPrograms, WhatOpensButCannotBeReadIsEmpty) {
  // So is the state of a process that ends between the opening and the reading.
  for (const char* path : {"/proc/self/mem", "/proc", "/proc/none"}) EXPECT_EQ(text_of_file(path), "") << path;
  EXPECT_TRUE(parse_process_stat(text_of_file("/proc/self/stat")).has_value());
}

TEST(OtherPrograms, TextsThatAreNoStateAreLeftAside) {
  for (const char* text : {"", "812", "812 (", "812 )(", "812 (name)", "812 (name) S 1 2", "812 (name) S x x x x"}) {
    EXPECT_FALSE(parse_process_stat(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace chiplog
