// What one rank does in a sample of a pattern, with all that can be decided beforehand decided.
#pragma once

#include <functional>

#include "patterns/workspace.hpp"

namespace chiplog {

// Takes one sample. Made once a series, so that a sample costs one indirect call and a message none.
using Part = std::function<Interval()>;

}  // namespace chiplog
