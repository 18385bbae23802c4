// One-sided operations.
#pragma once

#include <gtest/gtest.h>

#include <type_traits>

#include "../remote_cases.hpp"
#include "../worlds.hpp"

namespace chiplog::conformance {
namespace {

template <class World>
class RemoteMemory : public ::testing::Test {
 protected:
  void SetUp() override { CHIPLOG_REQUIRE_PRESENT(World) }

  static void expect_all_return(int ranks, void (*body)(typename World::Tested&, Rank, int)) {
    const Outcomes outcomes = World::run(ranks, [&](Bootstrap& bootstrap, typename World::Tested& transport) {
      body(transport, bootstrap.rank(), ranks);
    });
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) EXPECT_EQ(outcomes[rank], "") << "rank " << rank;
  }
};

TYPED_TEST_SUITE(RemoteMemory, Worlds, WorldNames);

// Leaves the case `Name` out for worlds for which the condition on `World` does not hold.
#define CHIPLOG_REMOTE_CASE_ONLY_IF(Name, lacks, ...)      \
  [[maybe_unused]] const bool Name##_is_noted = note_case( \
      Worlds(), "RemoteMemory", #Name, lacks, []<class World>() { return std::bool_constant<(__VA_ARGS__)>(); });

// A case of so many ranks, left out for transports that lack the operations that it is about.
#define CHIPLOG_REMOTE_CASE(Name, ranks, one)                                                     \
  CHIPLOG_REMOTE_CASE_ONLY_IF(Name, "the operations", requires { &one<typename World::Tested>; }) \
  TYPED_TEST(RemoteMemory, Name) {                                                                \
    using Over = typename TypeParam::Tested;                                                      \
    if constexpr (requires { &one<Over>; }) this->expect_all_return(ranks, one<Over>);            \
  }

CHIPLOG_REMOTE_CASE(AWindowBeginsAsZeros, 2, a_window_begins_as_zeros)
CHIPLOG_REMOTE_CASE(AWriteLandsExactlyOnceAndWhereItWasMeantToBe, 2,
                    a_write_lands_exactly_once_and_where_it_was_meant_to_be)
CHIPLOG_REMOTE_CASE(AnInlineWriteLandsExactlyOnceAndWhereItWasMeantToBe, 2,
                    an_inline_write_lands_exactly_once_and_where_it_was_meant_to_be)
CHIPLOG_REMOTE_CASE(SmallWritesLandInOrder, 2, small_writes_land_in_order)
CHIPLOG_REMOTE_CASE(LargeWritesLandInOrder, 2, large_writes_land_in_order)
CHIPLOG_REMOTE_CASE(ASourceMayBeUsedAgainAfterWaiting, 2, a_source_may_be_used_again_after_waiting)
CHIPLOG_REMOTE_CASE(AsManyOperationsAsDeclaredMayBePosted, 2, as_many_operations_as_declared_may_be_posted)
CHIPLOG_REMOTE_CASE(WritesOfSeveralRanksKeepApart, 5, writes_of_several_ranks_keep_apart)
CHIPLOG_REMOTE_CASE(AReadReturnsWhatWasWritten, 2, a_read_returns_what_was_written)
CHIPLOG_REMOTE_CASE(FetchAddIsAtomicUnderFourWriters, 5, fetch_add_is_atomic_under_several_ranks)
CHIPLOG_REMOTE_CASE(CompareSwapChangesOnlyWhatItExpects, 2, compare_swap_changes_only_what_it_expects)
CHIPLOG_REMOTE_CASE(CompareSwapIsAtomicUnderFourWriters, 5, compare_swap_is_atomic_under_several_ranks)
CHIPLOG_REMOTE_CASE(ImmediatesArriveInNumberBehindTheirBytes, 4, immediates_arrive_in_number_behind_their_bytes)
CHIPLOG_REMOTE_CASE(InlineImmediatesArriveInNumberBehindTheirBytes, 4,
                    inline_immediates_arrive_in_number_behind_their_bytes)
CHIPLOG_REMOTE_CASE(ImmediatesAndMessagesDoNotMix, 2, immediates_and_messages_do_not_mix)
CHIPLOG_REMOTE_CASE(InlineSendsMayBeFollowedByAnotherUseOfTheirBytes, 2,
                    inline_sends_may_be_followed_by_another_use_of_their_bytes)
CHIPLOG_REMOTE_CASE(WritesOfAListLand, 4, writes_of_a_list_land)
CHIPLOG_REMOTE_CASE(SendsOfAListArrive, 4, sends_of_a_list_arrive)
CHIPLOG_REMOTE_CASE(InlineWritesOfAListKeepTheirBytes, 2, inline_writes_of_a_list_keep_their_bytes)
CHIPLOG_REMOTE_CASE(AWriteBeyondTheEndIsAnError, 2, a_write_beyond_the_end_is_an_error)
CHIPLOG_REMOTE_CASE(ALongWriteBeyondTheEndIsAnError, 2, a_long_write_beyond_the_end_is_an_error)

// Where a rank may give its window up alone, and whoever has its key is told.
CHIPLOG_REMOTE_CASE_ONLY_IF(
    AWriteIntoAWindowThatIsGoneIsAnError, "a check of keys", requires { requires World::refuses_wrong_keys; })
TYPED_TEST(RemoteMemory, AWriteIntoAWindowThatIsGoneIsAnError) {
  if constexpr (requires { requires TypeParam::refuses_wrong_keys; }) {
    this->expect_all_return(2, a_write_into_a_window_that_is_gone_is_an_error);
  }
}

// As a view of writes waits: for a number in its own memory.
CHIPLOG_REMOTE_CASE_ONLY_IF(WhoeverWaitsForAWriteNoticesTheDeathOfItsWriter, "remote writes",
                            WritesRemotely<typename World::Tested>)
TYPED_TEST(RemoteMemory, WhoeverWaitsForAWriteNoticesTheDeathOfItsWriter) {
  using Over = typename TypeParam::Tested;
  if constexpr (WritesRemotely<Over>) {
    const Outcomes outcomes = TypeParam::run(2, [](Bootstrap& bootstrap, auto& transport) {
      auto window = transport.make_window(64);
      meet(transport, bootstrap.rank(), 2);
      if (bootstrap.rank() == 1) TypeParam::die();
      transport.wait_until(1, [&] { return !shows(window.data(), std::byte{}); });
    });
    EXPECT_EQ(testing::kind_of(outcomes[0]), "PeerLost") << outcomes[0];
    EXPECT_EQ(outcomes[1], died);
  }
}

}  // namespace
}  // namespace chiplog::conformance
