// What every transport must do. A transport has a file beside this one that defines `Worlds`, a list of the worlds in
// which it is tested, in an unnamed namespace of chiplog::conformance, and then includes this file. Cases about
// operations that a transport lacks are skipped and say so.
#pragma once

#include "suites/messages.hpp"
#include "suites/operations.hpp"
#include "suites/remote_memory.hpp"
#include "suites/several_ranks.hpp"
#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

[[maybe_unused]] const bool worlds_are_noted = note_worlds(Worlds());

}  // namespace
}  // namespace chiplog::conformance
