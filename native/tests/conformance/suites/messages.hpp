// Two-sided messages between two ranks.
#pragma once

#include <gtest/gtest.h>

#include "../cases.hpp"
#include "../worlds.hpp"

namespace chiplog::conformance {
namespace {

template <class World>
class Messages : public ::testing::Test {
 protected:
  using T = typename World::Tested;

  void SetUp() override { CHIPLOG_REQUIRE_PRESENT(World) }

  static void expect_both_return(void (*body)(T&, Rank)) {
    const Outcomes outcomes =
        World::run(2, [&](Bootstrap& bootstrap, T& transport) { body(transport, bootstrap.rank()); });
    EXPECT_EQ(outcomes[0], "") << "rank 0";
    EXPECT_EQ(outcomes[1], "") << "rank 1";
  }

  // Rank 1 dies within `body`; rank 0 must notice.
  static void expect_loss(const std::function<void(T&, Rank)>& body) {
    const Outcomes outcomes =
        World::run(2, [&](Bootstrap& bootstrap, T& transport) { body(transport, bootstrap.rank()); });
    EXPECT_EQ(testing::kind_of(outcomes[0]), "PeerLost") << outcomes[0];
    EXPECT_EQ(outcomes[1], died);
  }
};

TYPED_TEST_SUITE(Messages, Worlds, WorldNames);

TYPED_TEST(Messages, EmptyMessagesArrive) { this->expect_both_return(empty_messages_arrive); }
TYPED_TEST(Messages, OneByteArrives) { this->expect_both_return(one_byte_arrives); }
TYPED_TEST(Messages, EverySmallSizeArrivesExactly) { this->expect_both_return(every_small_size_arrives_exactly); }
TYPED_TEST(Messages, SizesAroundPowersOfTwoArriveExactly) {
  this->expect_both_return(sizes_around_powers_of_two_arrive_exactly);
}
TYPED_TEST(Messages, TheLargestMessageArrives) { this->expect_both_return(the_largest_message_arrives); }
TYPED_TEST(Messages, MessagesArriveInTheOrderInWhichTheyWereSent) {
  this->expect_both_return(messages_arrive_in_the_order_in_which_they_were_sent);
}
TYPED_TEST(Messages, ManySmallMessagesMayBeInFlight) { this->expect_both_return(many_small_messages_may_be_in_flight); }
TYPED_TEST(Messages, AsManySendsAsDeclaredMayBePosted) {
  this->expect_both_return(as_many_sends_as_declared_may_be_posted);
}
TYPED_TEST(Messages, ShortMessagesFitIntoLongerReceives) {
  this->expect_both_return(short_messages_fit_into_longer_receives);
}
TYPED_TEST(Messages, ABufferMayBeUsedAgainAfterItsSend) {
  this->expect_both_return(a_buffer_may_be_used_again_after_its_send);
}
TYPED_TEST(Messages, BothRanksSendAtOnce) { this->expect_both_return(both_ranks_send_at_once); }
TYPED_TEST(Messages, MessagesOfTwoLengthsAreExchanged) {
  this->expect_both_return(messages_of_two_lengths_are_exchanged);
}
TYPED_TEST(Messages, AnExchangeKeepsTheOrderOfMessages) {
  this->expect_both_return(an_exchange_keeps_the_order_of_messages);
}
TYPED_TEST(Messages, PostedReceivesGetTheirMessages) { this->expect_both_return(posted_receives_get_their_messages); }
TYPED_TEST(Messages, OptionsInForceAreOneJsonObject) { this->expect_both_return(options_in_force_are_one_json_object); }
TYPED_TEST(Messages, AShortMessageThatIsTooLongIsTruncated) { this->expect_both_return(a_short_message_is_truncated); }
TYPED_TEST(Messages, ALongMessageThatIsTooLongIsTruncated) { this->expect_both_return(a_long_message_is_truncated); }

TYPED_TEST(Messages, AnExchangedMessageThatIsTooLongIsTruncated) {
  this->expect_both_return(an_exchanged_message_longer_than_the_receive_is_truncated);
}

TYPED_TEST(Messages, ARankThatDiesInMidStreamIsNoticedByItsReceiver) {
  this->expect_loss([](auto& transport, Rank rank) {
    auto buffer = transport.make_buffer(1000);
    for (int i = 0;; ++i) {
      if (rank == 1 && i == 100) TypeParam::die();
      if (rank == 1) transport.send(0, buffer, 1000);
      if (rank == 0) transport.recv(1, buffer, 1000);
    }
  });
}

TYPED_TEST(Messages, WhatADyingRankHasSentStillArrives) {
  this->expect_loss([](auto& transport, Rank rank) {
    auto buffer = transport.make_buffer(5000);
    if (rank == 1) {
      for (std::uint64_t i = 0; i < 10; ++i) send_filled(transport, 0, buffer, 500 * i, i);
      TypeParam::die();
    }
    for (std::uint64_t i = 0; i < 10; ++i) expect_filled(transport, 1, buffer, 5000, 500 * i, i);
    transport.recv(1, buffer, 5000);
  });
}

TYPED_TEST(Messages, ARankThatDiesInMidStreamIsNoticedByItsSender) {
  this->expect_loss([](auto& transport, Rank rank) {
    const std::size_t bytes = at_most(transport, std::size_t{1} << 20U);
    auto buffer = transport.make_buffer(bytes);
    for (int i = 0;; ++i) {
      if (rank == 1 && i == 3) TypeParam::die();
      if (rank == 1) transport.recv(0, buffer, bytes);
      if (rank == 0) transport.send(1, buffer, bytes);
    }
  });
}

TYPED_TEST(Messages, ARankThatDiesBetweenExchangesIsNoticedByTheOther) {
  this->expect_loss([](auto& transport, Rank rank) {
    const std::size_t bytes = at_most(transport, std::size_t{4} << 20U);
    auto out = transport.make_buffer(bytes);
    auto in = transport.make_buffer(bytes);
    for (int i = 0;; ++i) {
      if (rank == 1 && i == 3) TypeParam::die();
      exchange_messages(transport, 1 - rank, out, bytes, in, bytes);
    }
  });
}

TYPED_TEST(Messages, ARankThatLeavesInPeaceIsNoticedToo) {
  const Outcomes outcomes = TypeParam::run(2, [](Bootstrap& bootstrap, auto& transport) {
    auto buffer = transport.make_buffer(1);
    if (bootstrap.rank() == 0) transport.recv(1, buffer, 1);
  });
  EXPECT_EQ(testing::kind_of(outcomes[0]), "PeerLost") << outcomes[0];
  EXPECT_EQ(outcomes[1], "");
}

}  // namespace
}  // namespace chiplog::conformance
