#include "transports/shm/shm.hpp"

#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

ShmTransport make_shm(Bootstrap& bootstrap, Limit limit) { return {bootstrap, {}, limit}; }
// The smallest ring: everything wraps around and waits for room.
ShmTransport make_small_shm(Bootstrap& bootstrap, Limit limit) { return {bootstrap, {.ring_bytes = 65536}, limit}; }

struct Shm : ForkedWorld<ShmTransport, make_shm> {
  static constexpr const char* name = "shm";
};
struct SmallShm : ForkedWorld<ShmTransport, make_small_shm> {
  static constexpr const char* name = "shm_of_the_smallest_ring";
};
using Worlds = ::testing::Types<Shm, SmallShm>;

}  // namespace
}  // namespace chiplog::conformance

#include "suites.hpp"
