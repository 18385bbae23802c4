#include "core/record_sink.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

// The check value of CRC-32/ISO-HDLC, which zlib computes.
TEST(Crc32, HasTheCatalogueValue) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(crc32(""), 0U);
}

TEST(Crc32, IsTheLastMemberAndCoversAllBeforeIt) {
  const std::string line = with_crc32(R"({"type":"footer"})");
  EXPECT_EQ(line.substr(0, 26), R"({"type":"footer","crc32":")");
  EXPECT_EQ(line.substr(34), "\"}");
  EXPECT_EQ(std::stoul(line.substr(26, 8), nullptr, 16), crc32(R"({"type":"footer")"));
}

TEST(RecordSink, SaysThatADiskIsFull) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  RecordSink sink(full);
  EXPECT_THROW(sink.write("{}"), Error);
  close(full);
}

TEST(RecordSink, SaysThatItsReaderIsGone) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  RecordSink sink(ends[1]);
  EXPECT_THROW(sink.write("{}"), Error);
  close(ends[1]);
}

}  // namespace
}  // namespace chiplog
