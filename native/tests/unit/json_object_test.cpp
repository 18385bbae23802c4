#include "core/json_object.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace chiplog {
namespace {

TEST(JsonObject, WritesMembersInTheOrderInWhichTheyWereAdded) {
  const std::string text =
      JsonObject().add("b", "two").add("a", 1).add("c", true).add("d", 0.5).add_json("e", "[1]").text();
  EXPECT_EQ(text, R"({"b":"two","a":1,"c":true,"d":0.5,"e":[1]})");
}

TEST(JsonObject, EscapesQuotesControlCharactersAndBytesThatAreNoUtf8) {
  EXPECT_EQ(JsonObject().add("k\"", "a\n\\").text(), R"({"k\"":"a\n\\"})");
  EXPECT_EQ(json_string("\xff"), "\"\\ufffd\"");
}

TEST(JsonObject, WritesWhatIsNotFiniteAsNull) {
  EXPECT_EQ(JsonObject().add("x", std::numeric_limits<double>::quiet_NaN()).text(), R"({"x":null})");
}

TEST(JsonObject, KeepsAWholeDoubleApartFromAnInteger) {
  EXPECT_EQ(JsonObject().add("x", 3.0).add("y", 3).text(), R"({"x":3.0,"y":3})");
  EXPECT_EQ(JsonObject().add("big", std::numeric_limits<std::uint64_t>::max()).text(),
            R"({"big":18446744073709551615})");
}

TEST(JsonObject, WithoutMembersIsEmpty) { EXPECT_EQ(JsonObject().text(), "{}"); }

}  // namespace
}  // namespace chiplog
