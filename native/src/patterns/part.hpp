// One rank's part in a sample of a pattern, with everything decided beforehand.
#pragma once

#include <functional>

#include "patterns/workspace.hpp"

namespace chiplog {

// Takes one sample. It is made once per series, so that a sample costs one indirect call and a message none.
using Part = std::function<Interval()>;

}  // namespace chiplog
