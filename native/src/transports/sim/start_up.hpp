// What it costs a CPU to begin sending.
#pragma once

namespace chiplog::sim {

// One of p sends in a row costs o_s + ns/(shift + p): LogfP's o_max with shift 0, l2 and l3 of LoP's overhead.
struct StartUp {
  double ns = 0.0;
  double shift = 0.0;

  // Of so many sends together.
  [[nodiscard]] double total_ns(double sends) const { return sends > 0.0 ? ns * sends / (shift + sends) : 0.0; }
};

}  // namespace chiplog::sim
