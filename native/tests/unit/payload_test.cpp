#include "core/payload.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace chiplog {
namespace {

TEST(Payload, IsRecognised) {
  for (const std::size_t bytes : {0U, 1U, 7U, 8U, 9U, 1000U}) {
    std::vector<std::byte> payload(bytes);
    fill_payload(payload, 5);
    EXPECT_FALSE(find_mismatch(payload, 5)) << bytes;
  }
}

TEST(Payload, AnyFlippedBitIsFound) {
  std::vector<std::byte> payload(19);
  fill_payload(payload, 5);
  for (std::size_t at = 0; at < payload.size(); ++at) {
    payload[at] ^= std::byte{0x10};
    const auto mismatch = find_mismatch(payload, 5);
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->substr(0, 12), ("byte " + std::to_string(at) + " of 19 is").substr(0, 12));
    payload[at] ^= std::byte{0x10};
  }
}

TEST(Payload, OfAnotherMessageIsNotTakenForThisOne) {
  std::vector<std::byte> payload(16);
  fill_payload(payload, 5);
  EXPECT_TRUE(find_mismatch(payload, 6));
}

}  // namespace
}  // namespace chiplog
