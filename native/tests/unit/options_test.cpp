#include "core/options.hpp"

#include <gtest/gtest.h>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Options, SplitsATargetAtItsFirstColonOnly) {
  Options options = parse_target("tcp:bind=::1,busy_poll=1");
  EXPECT_EQ(options.transport(), "tcp");
  EXPECT_EQ(options.text("bind", ""), "::1");
  EXPECT_TRUE(options.flag("busy_poll", false));
  options.refuse_unknown();
}

TEST(Options, GivesDefaultsForWhatIsNotThere) {
  Options options = parse_target("tcp");
  EXPECT_EQ(options.integer("port", 7, 0, 10), 7);
  EXPECT_FALSE(options.word("rma"));
  EXPECT_EQ(options.bytes("room", 64), 64U);
}

TEST(Options, TakesABareWord) {
  Options options = parse_target("mpi:rma");
  EXPECT_TRUE(options.word("rma"));
  options.refuse_unknown();
}

TEST(Options, NamesAnUnknownOptionAndThoseThereAre) {
  Options options = parse_target("tcp:bnd=x");
  (void)options.text("bind", "");
  EXPECT_EQ(refusal([&] { options.refuse_unknown(); }), "unknown option 'bnd' of tcp; it accepts bind");
}

TEST(Options, RefusesATextWithoutAValue) {
  for (const char* target : {"tcp:bind", "tcp:bind="}) {
    Options options = parse_target(target);
    EXPECT_EQ(refusal([&] { (void)options.text("bind", ""); }), "option 'bind' of tcp needs a value: bind=VALUE");
  }
}

TEST(Options, RefusesAnOptionThatIsGivenTwice) {
  Options options = parse_target("tcp:bind=a,bind=b");
  EXPECT_EQ(refusal([&] { (void)options.text("bind", ""); }), "option 'bind' of tcp is given more than once");
}

TEST(Options, KeepsTheOrderOfWhatMayBeRepeated) {
  Options options = parse_target("sim:change=1:L=1us,change=2:L=2us");
  EXPECT_EQ(options.repeated("change"), (std::vector<std::string>{"1:L=1us", "2:L=2us"}));
}

TEST(Options, RefusesAWordThatIsNoChoice) {
  Options options = parse_target("sim:handshake=maybe");
  EXPECT_EQ(refusal([&] { (void)options.choice("handshake", "0", {"0", "sync"}); }),
            "option 'handshake' of sim accepts 0, sync, not 'maybe'");
}

TEST(Options, RefusesTargetsWithoutTransportOrKey) {
  EXPECT_THROW((void)parse_target(""), UsageError);
  EXPECT_THROW((void)parse_target(":L=1us"), UsageError);
  EXPECT_THROW((void)parse_target("sim:=1us"), UsageError);
}

}  // namespace
}  // namespace chiplog
