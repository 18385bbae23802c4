#include "core/request_source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "chiplog/error.hpp"
#include "core/request.hpp"

namespace chiplog {
namespace {

using std::chrono::milliseconds;

class RequestSourceTest : public testing::Test {
 protected:
  RequestSourceTest() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~RequestSourceTest() override {
    close(ends[0]);
    close_writer();
  }
  void put(const std::string& text) { ASSERT_EQ(write(ends[1], text.data(), text.size()), ssize_t(text.size())); }
  void close_writer() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }

  std::array<int, 2> ends{-1, -1};
};

TEST_F(RequestSourceTest, GivesLinesOneByOne) {
  put("a\nb\n\n \nc");
  close_writer();
  RequestSource source(ends[0]);
  std::string line;
  for (const char* expected : {"a", "b", "c"}) {
    ASSERT_EQ(source.next(line, milliseconds(1000)), RequestSource::Outcome::line);
    EXPECT_EQ(line, expected);
  }
  EXPECT_EQ(source.next(line, milliseconds(1000)), RequestSource::Outcome::end);
}

TEST_F(RequestSourceTest, IsIdleWhileALineIsIncomplete) {
  put("half");
  RequestSource source(ends[0]);
  std::string line;
  EXPECT_EQ(source.next(line, milliseconds(1)), RequestSource::Outcome::idle);
  put(" done\n");
  EXPECT_EQ(source.next(line, milliseconds(1000)), RequestSource::Outcome::line);
  EXPECT_EQ(line, "half done");
}

TEST_F(RequestSourceTest, RefusesALineThatIsTooLongAndGoesOnBehindIt) {
  std::thread writer([&] {
    put(std::string(2 * max_request_bytes, 'x') + "\nnext\n");
    close_writer();
  });
  RequestSource source(ends[0]);
  std::string line;
  EXPECT_THROW((void)source.next(line, milliseconds(5000)), UsageError);
  EXPECT_EQ(source.next(line, milliseconds(5000)), RequestSource::Outcome::line);
  EXPECT_EQ(line, "next");
  EXPECT_EQ(source.next(line, milliseconds(5000)), RequestSource::Outcome::end);
  writer.join();
}

}  // namespace
}  // namespace chiplog
