#include "core/small_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace chiplog {
namespace {

std::string failure(const std::string& path, std::size_t most_bytes = 100) {
  try {
    return "read: " + read_small_file(path, most_bytes);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(SmallFile, IsReadAsAWhole) {
  const std::string path = testing::TempDir() + "chiplog-small-" + std::to_string(getpid());
  std::ofstream(path) << std::string(5000, 'x');
  EXPECT_EQ(read_small_file(path, 5000), std::string(5000, 'x'));
  EXPECT_EQ(failure(path, 4999), "has more than 4999 B");
  std::remove(path.c_str());
}

TEST(SmallFile, NothingIsWaitedFor) {
  const std::string path = testing::TempDir() + "chiplog-fifo-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(failure(path), "is no regular file");
  EXPECT_FALSE(is_replaceable(path));
  std::remove(path.c_str());
  EXPECT_EQ(failure(path), "can't be read");
  EXPECT_TRUE(is_replaceable(path));
  EXPECT_EQ(failure("/dev/zero"), "is no regular file");
  EXPECT_EQ(failure(testing::TempDir()), "is no regular file");
}

TEST(SmallFile, ALongFileOfZerosIsNotTakenIntoMemory) {
  const std::string path = testing::TempDir() + "chiplog-zeros-" + std::to_string(getpid());
  std::ofstream{path};
  ASSERT_EQ(truncate(path.c_str(), 1L << 40), 0);
  EXPECT_EQ(failure(path, 10000), "has more than 10000 B");
  std::remove(path.c_str());
}

}  // namespace
}  // namespace chiplog
