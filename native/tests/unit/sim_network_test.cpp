#include <gtest/gtest.h>

#include "chiplog/error.hpp"
#include "transports/sim/network.hpp"

namespace chiplog::sim {
namespace {

constexpr Picoseconds us = 1'000'000;

Parameters parameters_of(const std::string& target) {
  Options options = parse_target(target);
  return parse_parameters(options, 0, 2);
}

// Runs `sender` on rank 0 and `receiver` on rank 1.
template <class Sender, class Receiver>
void run_pair(const Parameters& parameters, const Sender& sender, const Receiver& receiver) {
  Fibers fibers;
  Network network(parameters, fibers);
  fibers.run({[&] { sender(network); }, [&] { receiver(network); }});
}

TEST(SimNetwork, OneWayTimeIsThatOfLogGP) {
  run_pair(
      parameters_of("sim:L=5us,o_s=1us,o_r=3us,g=2us,G=0.5ns"),
      [](Network& network) {
        network.post_send(0, 1, nullptr, 2001);
        EXPECT_EQ(network.now(0), 1 * us);
      },
      [](Network& network) {
        EXPECT_EQ(network.recv(1, 0, nullptr, 2001), 2001U);
        EXPECT_EQ(network.now(1), 1 * us + 1 * us + 5 * us + 3 * us);
      });
}

TEST(SimNetwork, EmptyMessageCountsAsOneByte) {
  for (const std::size_t bytes : {0U, 1U}) {
    run_pair(
        parameters_of("sim:L=5us,o=1us,g=2us,G=1us"),
        [&](Network& network) { network.post_send(0, 1, nullptr, bytes); },
        [&](Network& network) {
          (void)network.recv(1, 0, nullptr, bytes);
          EXPECT_EQ(network.now(1), 7 * us);
        });
  }
}

TEST(SimNetwork, ReceiverThatIsLatePaysItsOverheadOnly) {
  run_pair(
      parameters_of("sim:L=5us,o=1us,g=2us,G=0"), [](Network& network) { network.post_send(0, 1, nullptr, 1); },
      [](Network& network) {
        network.compute(1, 100 * us);
        (void)network.recv(1, 0, nullptr, 1);
        EXPECT_EQ(network.now(1), 101 * us);
      });
}

TEST(SimNetwork, EagerSendDoesNotWaitForItsReceiver) {
  run_pair(
      parameters_of("sim:L=5us,o=1us,g=2us,G=0,S=1KiB"),
      [](Network& network) {
        network.post_send(0, 1, nullptr, 1024);
        network.wait_sends(0);
        EXPECT_EQ(network.now(0), 1 * us);
      },
      [](Network& network) {
        network.compute(1, 100 * us);
        (void)network.recv(1, 0, nullptr, 1024);
      });
}

TEST(SimNetwork, SendAboveSWaitsForItsReceiver) {
  run_pair(
      parameters_of("sim:L=5us,o=1us,g=2us,G=0,S=1KiB"),
      [](Network& network) {
        network.post_send(0, 1, nullptr, 1025);
        network.wait_sends(0);
        EXPECT_EQ(network.now(0), 100 * us);
      },
      [](Network& network) {
        network.compute(1, 100 * us);
        (void)network.recv(1, 0, nullptr, 1025);
        EXPECT_EQ(network.now(1), 101 * us);
      });
}

TEST(SimNetwork, HandshakeTakesARoundTripBeforeTheData) {
  run_pair(
      parameters_of("sim:L=5us,o_s=1us,o_r=3us,g=2us,G=0,S=1KiB,handshake=sync"),
      [](Network& network) {
        network.post_send(0, 1, nullptr, 1025);
        network.wait_sends(0);
        EXPECT_EQ(network.now(0), 2 * 9 * us + 1 * us);
      },
      [](Network& network) {
        (void)network.recv(1, 0, nullptr, 1025);
        EXPECT_EQ(network.now(1), 2 * 9 * us + 9 * us);
      });
}

TEST(SimNetwork, TruncationIsAnErrorOfTheReceiver) {
  EXPECT_THROW(run_pair(
                   parameters_of("sim"), [](Network& network) { network.post_send(0, 1, nullptr, 9); },
                   [](Network& network) { (void)network.recv(1, 0, nullptr, 8); }),
               Truncated);
}

TEST(SimParameters, ChangeInheritsWhatItDoesNotName) {
  const Parameters parameters =
      parameters_of("sim:L=5us,o=1us,g=2us,G=0.5ns,change=64KiB:G=0.1ns,change=8KiB:L=9us:g=4us");
  EXPECT_DOUBLE_EQ(parameters.protocol(8192).L_ns, 5000.0);
  EXPECT_DOUBLE_EQ(parameters.protocol(8193).L_ns, 9000.0);
  EXPECT_DOUBLE_EQ(parameters.protocol(8193).G_ns, 0.5);
  EXPECT_DOUBLE_EQ(parameters.protocol(65537).G_ns, 0.1);
  EXPECT_DOUBLE_EQ(parameters.protocol(65537).g_ns, 4000.0);
}

TEST(SimParameters, OverheadOfOneSideGoesBeforeThatOfBoth) {
  const Parameters parameters = parameters_of("sim:o=1us,o_r=3us");
  EXPECT_DOUBLE_EQ(parameters.first.o_s_ns, 1000.0);
  EXPECT_DOUBLE_EQ(parameters.first.o_r_ns, 3000.0);
}

TEST(SimParameters, RefuseWhatTheyDoNotKnow) {
  for (const char* target :
       {"sim:x=1", "sim:L=5", "sim:noise=-1", "sim:outliers=2", "sim:change=8KiB", "sim:change=8KiB:L",
        "sim:change=8KiB:S=9us", "sim:change=8:L=1us,change=8:L=2us", "sim:ranks=1", "sim:L=1000s"}) {
    EXPECT_THROW((void)parameters_of(target), UsageError) << target;
  }
}

}  // namespace
}  // namespace chiplog::sim
