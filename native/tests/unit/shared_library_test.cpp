#include "core/shared_library.hpp"

#include <gtest/gtest.h>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

TEST(SharedLibrary, ItsFunctionsCanBeCalled) {
  const SharedLibrary library = SharedLibrary::open({"libthere-is-no-such-library.so.1", "libm.so.6"});
  EXPECT_EQ(library.name(), "libm.so.6");
  EXPECT_EQ(library.function<double(double)>("sqrt")(9.0), 3.0);
}

TEST(SharedLibrary, OneThatIsMissingIsNamed) {
  try {
    (void)SharedLibrary::open({"libthere-is-no-such-library.so.1"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("libthere-is-no-such-library.so.1"), std::string::npos);
  }
}

TEST(SharedLibrary, AFunctionThatIsMissingIsNamed) {
  const SharedLibrary library = SharedLibrary::open({"libm.so.6"});
  EXPECT_THROW((void)library.function<void()>("there_is_no_such_function"), Error);
}

}  // namespace
}  // namespace chiplog
