#include "transports/registry.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

TransportEntry entry_with(Availability (*availability)()) {
  TransportEntry entry{};
  entry.availability = availability;
  return entry;
}

TEST(Registry, ATransportThatSaysNothingOfItsAvailabilityIsUsable) {
  const Availability found = availability_of(TransportEntry{});
  EXPECT_TRUE(found.usable);
  EXPECT_EQ(found.why, "");
}

TEST(Registry, WhatATransportFindsIsPassedOn) {
  const Availability found =
      availability_of(entry_with([] { return Availability{.why = "libfabric 1.17", .choices = {"provider=tcp"}}; }));
  EXPECT_TRUE(found.usable);
  EXPECT_EQ(found.why, "libfabric 1.17");
  EXPECT_EQ(found.choices, std::vector<std::string>{"provider=tcp"});
}

TEST(Registry, AnErrorOfTheLookIsWhyATransportIsNotUsable) {
  const Availability found = availability_of(
      entry_with([]() -> Availability { throw Error(ExitCode::run_failed, "libfabric.so.1 is not there"); }));
  EXPECT_FALSE(found.usable);
  EXPECT_EQ(found.why, "libfabric.so.1 is not there");
}

TEST(Registry, TheEntrysRemedyStandsForOneThatTheLookDoesNotSay) {
  TransportEntry entry = entry_with([] { return Availability{.usable = false}; });
  entry.remedy = "install it";
  EXPECT_EQ(availability_of(entry).remedy, "install it");
  entry.availability = [] { return Availability{.usable = false, .remedy = "load its module"}; };
  EXPECT_EQ(availability_of(entry).remedy, "load its module");
  entry.availability = [] { return Availability{}; };
  EXPECT_EQ(availability_of(entry).remedy, "");
}

TEST(Registry, ATransportIsBuiltOrSaysWhatItNeeds) {
  for (const TransportEntry* entry : transports()) EXPECT_EQ(&find_transport(entry->name), entry);
  for (const NotBuilt& absent : transports_not_built()) {
    EXPECT_NE(absent.needs, "") << absent.name;
    EXPECT_THROW((void)find_transport(absent.name), UsageError);
  }
}

}  // namespace
}  // namespace chiplog
