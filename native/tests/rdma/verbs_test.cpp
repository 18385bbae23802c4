// What verbs does beyond the conformance suite: datagrams, and what it says of a device.
#include <gtest/gtest.h>

#include "../conformance/cases.hpp"
#include "../conformance/verbs_options.hpp"
#include "../conformance/worlds.hpp"

namespace chiplog::conformance {
namespace {

VerbsTransport make_datagrams(Bootstrap& bootstrap, Limit limit) {
  VerbsOptions options = verbs_options();
  options.service = verbs::Service::datagram;
  return {bootstrap, options, limit};
}

VerbsTransport make_connected(Bootstrap& bootstrap, Limit limit) { return {bootstrap, verbs_options(), limit}; }

using Datagrams = ForkedWorld<VerbsTransport, make_datagrams>;
using Connected = ForkedWorld<VerbsTransport, make_connected>;

template <class World>
void expect_both_return(const std::function<void(VerbsTransport&, Rank)>& body) {
  const Outcomes outcomes =
      World::run(2, [&](Bootstrap& bootstrap, VerbsTransport& transport) { body(transport, bootstrap.rank()); });
  EXPECT_EQ(outcomes[0], "") << "rank 0";
  EXPECT_EQ(outcomes[1], "") << "rank 1";
}

TEST(Verbs, DatagramsOfUpToThePortsMtuArrive) {
  expect_both_return<Datagrams>([](VerbsTransport& transport, Rank rank) {
    const std::size_t largest = transport.capabilities().max_message_bytes;
    require(largest >= 256 && largest <= 4096, "datagrams of " + std::to_string(largest) + " bytes are declared");
    auto buffer = transport.make_buffer(largest + 64);
    for (std::size_t bytes = 0; bytes <= largest; bytes += bytes < 64 ? 1 : 64) {
      round_trip(transport, rank, buffer, bytes);
    }
    round_trip(transport, rank, buffer, largest);
  });
}

TEST(Verbs, ADatagramLongerThanThePortsMtuIsRefused) {
  const Outcomes outcomes = Datagrams::run(2, [](Bootstrap& bootstrap, VerbsTransport& transport) {
    auto buffer = transport.make_buffer(8192);
    if (bootstrap.rank() == 0) transport.send(1, buffer, 8192);
  });
  EXPECT_EQ(testing::kind_of(outcomes[0]), "UsageError") << outcomes[0];
}

TEST(Verbs, DatagramsDeclareNoOneSidedOperations) {
  expect_both_return<Datagrams>([](VerbsTransport& transport, Rank /*rank*/) {
    const Capabilities can = transport.capabilities();
    require(!can.remote_write && !can.remote_read && !can.atomics && !can.write_with_immediate, "ud can't do these");
  });
}

TEST(Verbs, AConnectedDeviceDeclaresWhatItOffers) {
  expect_both_return<Connected>([](VerbsTransport& transport, Rank /*rank*/) {
    const Capabilities can = transport.capabilities();
    require(can.remote_write && can.remote_read && can.write_with_immediate && can.atomics, "soft-RoCE can do these");
    require(can.inline_send == (transport.max_inline_bytes() > 0), "inline sends are not what the queue pair grants");
  });
}

TEST(Verbs, ADeviceThatIsNotThereIsRefusedWithTheNamesOfThoseThatAre) {
  try {
    (void)verbs::open_device("nowhere0", std::nullopt);
    FAIL() << "opened";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("nowhere0"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("rxe0"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace chiplog::conformance
