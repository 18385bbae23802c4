// One suite for the one-sided operations of all transports: a new one joins with a line in `RemoteWorlds`.
#include <gtest/gtest.h>

#include "remote_cases.hpp"
#include "worlds.hpp"
#ifdef CHIPLOG_RDMA_WORLDS
#include "rdma_worlds.hpp"
#endif

namespace chiplog::conformance {
namespace {

// What a world may say of itself beyond `missing`:
//   static constexpr bool refuses_wrong_keys = false;   with the reason beside it
template <class World>
constexpr bool refuses_wrong_keys() {
  if constexpr (requires { World::refuses_wrong_keys; }) return World::refuses_wrong_keys;
  return true;
}

#if defined(CHIPLOG_RDMA_WORLDS)
using RemoteWorlds = RdmaRemoteWorlds;
#elif defined(CHIPLOG_WITH_OFI)
using RemoteWorlds = ::testing::Types<OfiWorld<make_ofi_shm>, OfiWorld<make_ofi_tcp>>;
#endif

#if defined(CHIPLOG_RDMA_WORLDS) || defined(CHIPLOG_WITH_OFI)

template <class World>
class RemoteMemory : public ::testing::Test {
 protected:
  using T = typename World::Tested;

  void SetUp() override { CHIPLOG_SKIP_UNLESS_PRESENT(World) }

  static void expect_all_return(int ranks, void (*body)(T&, Rank, int)) {
    const std::vector<std::string> outcomes = World::run_many(ranks, body);
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) EXPECT_EQ(outcomes[rank], "") << "rank " << rank;
  }
};

TYPED_TEST_SUITE(RemoteMemory, RemoteWorlds);

TYPED_TEST(RemoteMemory, AWindowBeginsAsZeros) { this->expect_all_return(2, a_window_begins_as_zeros); }
TYPED_TEST(RemoteMemory, AWriteLandsExactlyOnceAndWhereItWasMeantToBe) {
  this->expect_all_return(2, a_write_lands_exactly_once_and_where_it_was_meant_to_be);
}
TYPED_TEST(RemoteMemory, AnInlineWriteLandsExactlyOnceAndWhereItWasMeantToBe) {
  this->expect_all_return(2, an_inline_write_lands_exactly_once_and_where_it_was_meant_to_be);
}
TYPED_TEST(RemoteMemory, SmallWritesLandInOrder) { this->expect_all_return(2, small_writes_land_in_order); }
TYPED_TEST(RemoteMemory, LargeWritesLandInOrder) { this->expect_all_return(2, large_writes_land_in_order); }
TYPED_TEST(RemoteMemory, ASourceMayBeUsedAgainAfterWaiting) {
  this->expect_all_return(2, a_source_may_be_used_again_after_waiting);
}
TYPED_TEST(RemoteMemory, AsManyOperationsAsDeclaredMayBePosted) {
  this->expect_all_return(2, as_many_operations_as_declared_may_be_posted);
}
TYPED_TEST(RemoteMemory, WritesOfSeveralRanksKeepApart) {
  this->expect_all_return(5, writes_of_several_ranks_keep_apart);
}
TYPED_TEST(RemoteMemory, AReadReturnsWhatWasWritten) { this->expect_all_return(2, a_read_returns_what_was_written); }
TYPED_TEST(RemoteMemory, FetchAddIsAtomicUnderFourWriters) {
  this->expect_all_return(5, fetch_add_is_atomic_under_several_ranks);
}
TYPED_TEST(RemoteMemory, CompareSwapChangesOnlyWhatItExpects) {
  this->expect_all_return(2, compare_swap_changes_only_what_it_expects);
}
TYPED_TEST(RemoteMemory, CompareSwapIsAtomicUnderFourWriters) {
  this->expect_all_return(5, compare_swap_is_atomic_under_several_ranks);
}
TYPED_TEST(RemoteMemory, ImmediatesArriveInNumberBehindTheirBytes) {
  this->expect_all_return(4, immediates_arrive_in_number_behind_their_bytes);
}
TYPED_TEST(RemoteMemory, InlineImmediatesArriveInNumberBehindTheirBytes) {
  this->expect_all_return(4, inline_immediates_arrive_in_number_behind_their_bytes);
}
TYPED_TEST(RemoteMemory, ImmediatesAndMessagesDoNotMix) {
  this->expect_all_return(2, immediates_and_messages_do_not_mix);
}
TYPED_TEST(RemoteMemory, InlineSendsMayBeFollowedByAnotherUseOfTheirBytes) {
  this->expect_all_return(2, inline_sends_may_be_followed_by_another_use_of_their_bytes);
}
TYPED_TEST(RemoteMemory, WritesOfAListLand) { this->expect_all_return(4, writes_of_a_list_land); }
TYPED_TEST(RemoteMemory, SendsOfAListArrive) { this->expect_all_return(4, sends_of_a_list_arrive); }
TYPED_TEST(RemoteMemory, InlineWritesOfAListKeepTheirBytes) {
  this->expect_all_return(2, inline_writes_of_a_list_keep_their_bytes);
}
TYPED_TEST(RemoteMemory, AWriteBeyondTheEndIsAnError) {
  this->expect_all_return(2, a_write_beyond_the_end_is_an_error);
}
TYPED_TEST(RemoteMemory, ALongWriteBeyondTheEndIsAnError) {
  this->expect_all_return(2, a_long_write_beyond_the_end_is_an_error);
}
TYPED_TEST(RemoteMemory, AWriteIntoAWindowThatIsGoneIsAnError) {
  if constexpr (refuses_wrong_keys<TypeParam>()) {
    this->expect_all_return(2, a_write_into_a_window_that_is_gone_is_an_error);
  } else {
    GTEST_SKIP() << TypeParam::why_not;
  }
}

TYPED_TEST(RemoteMemory, AWriterNoticesATargetThatDies) {
  const std::vector<std::string> outcomes = TypeParam::run_many(2, [](auto& transport, Rank rank, int /*ranks*/) {
    auto window = transport.make_window(1U << 20U);
    auto buffer = transport.make_buffer(1U << 20U);
    if (rank == 1) TypeParam::die();
    for (;;) {
      transport.post_write(1, buffer, 0, 1U << 20U, window, 0);
      transport.wait_operations();
    }
  });
  EXPECT_EQ(testing::kind_of(outcomes[0]), "PeerLost") << outcomes[0];
  EXPECT_EQ(outcomes[1], died);
}
#endif

}  // namespace
}  // namespace chiplog::conformance
