// The facts about a measurement pattern. Each pattern is one file in src/patterns; the list of them is
// patterns/list.hpp. Code outside that folder knows patterns by these facts only.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/operation.hpp"

namespace chiplog {

struct PairGroups;
struct Pattern;

// In most patterns rank 0 is the client, ranks 1 to `peers` are servers, and further ranks look on.
enum class Role { client, server, onlooker };

// The role of a rank in a series, and its partner if it exchanges messages with one rank only.
struct Position {
  Role role = Role::onlooker;
  Rank partner = 0;
};

// Two ranks that exchange messages.
struct Link {
  Rank client = 0;
  Rank server = 1;

  auto operator<=>(const Link&) const = default;
};

// An integer setting of one pattern, with its name in requests and records.
struct Setting {
  std::string_view name;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t fallback = 0;
};
inline constexpr std::size_t max_settings = 4;

// One series with everything decided, as the timed loops need it.
struct SeriesSetup {
  const Pattern* pattern = nullptr;  // one of the list, which outlives all series
  std::size_t message_bytes = 0;
  std::int64_t train = 1;
  double delay_ns = 0.0;
  std::int64_t batch = 1;              // operations in one timed interval
  std::int64_t peers = 1;              // servers that the client addresses in turn; of a barrier, in a round
  std::int64_t pairs = 1;              // at the same time
  const PairGroups* groups = nullptr;  // of a pattern that takes pair groups; outlives the series
  int self = 0;                        // this rank
  int partner = 1;                     // of a pair: the other rank
  int ranks = 2;                       // of the run
  Operation operation = Operation::send;
  Posting posting = Posting::normal;
  std::array<std::int64_t, max_settings> settings{};  // in the order of the pattern's
  std::shared_ptr<const std::vector<Link>> links{};   // that the request lists, of a pattern that takes them; or null
};

struct WireCount {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

enum class Delay { none, optional, needed };
// What is repeated if one operation is too short for the clock: whole exchanges, or the posting of messages.
enum class Batches { none, exchanges, posts };

// A field of a request, and the rest of the sentence that begins with it: "accepts 0 to 3, not 4".
struct SettingRefusal {
  std::string_view field;
  std::string sentence;
};

// The defaults, which fit most patterns.
namespace usual {

[[nodiscard]] bool any_operation(Operation operation);
[[nodiscard]] std::int64_t no_busy_waits(const SeriesSetup& setup);
[[nodiscard]] std::int64_t no_posts(const SeriesSetup& setup);
// Rank 0 with each of `peers` servers.
[[nodiscard]] Position position(const SeriesSetup& setup, Rank rank);
[[nodiscard]] std::vector<Link> links(const SeriesSetup& setup);
// Each operation is a request and its answer; before and after all of them, each target exchanges one empty message.
[[nodiscard]] WireCount passive_wire_count(const SeriesSetup& setup);
[[nodiscard]] std::optional<SettingRefusal> nothing_to_refuse(const SeriesSetup& setup);

}  // namespace usual

struct Pattern {
  std::string_view name;
  std::string_view direction;  // of its samples: round-trip, one-way or call
  Role timed_by = Role::client;
  Batches batches = Batches::none;
  std::int64_t batch_multiple = 1;  // batches are multiples of this
  Delay delay = Delay::none;
  bool takes_trains = false;       // otherwise train is 1
  bool takes_peers = false;        // otherwise peers is 1
  bool takes_pair_groups = false;  // otherwise pairs is 1, and there is nothing between which they are
  bool takes_links = false;        // a request may list the pairs of ranks
  bool train_is_peers = false;     // one message to each peer
  bool needs_synchronising_transport = false;
  bool needs_posted_receives = false;
  // Servers say that they are there even where the operation leaves them out.
  bool servers_announce_themselves = false;
  // Each pair is timed by its own client. A sample is the time of the slowest pair.
  bool several_clients = false;
  // True if the samples of each pair are recorded, too.
  bool records_each_pair = false;
  std::span<const Setting> settings = {};
  // Another form of the pattern, which a request selects by "direction" or "posting".
  const Pattern* one_way = nullptr;
  const Pattern* as_list = nullptr;

  // What one sample puts on the wire, in both directions, acknowledgements included; of messages, and of operations
  // whose target takes no part.
  WireCount (*message_wire_count)(const SeriesSetup& setup);
  WireCount (*passive_wire_count)(const SeriesSetup& setup) = usual::passive_wire_count;
  bool (*supports)(Operation operation) = usual::any_operation;
  // The busy waits of one sample of a delayed series, whose mean it tells.
  std::int64_t (*busy_waits)(const SeriesSetup& setup) = usual::no_busy_waits;
  // Sends that are posted before any is waited for. A transport must be able to have so many outstanding.
  std::int64_t (*posted_at_once)(const SeriesSetup& setup) = usual::no_posts;
  Position (*position)(const SeriesSetup& setup, Rank rank) = usual::position;
  // The pairs of ranks that exchange messages.
  std::vector<Link> (*links)(const SeriesSetup& setup) = usual::links;
  // Why these settings do not go together.
  std::optional<SettingRefusal> (*refuse)(const SeriesSetup& setup) = usual::nothing_to_refuse;

  [[nodiscard]] WireCount wire_count(const SeriesSetup& setup) const {
    return is_passive(setup.operation) ? passive_wire_count(setup) : message_wire_count(setup);
  }
};

using Patterns = std::span<const Pattern* const>;

// Returns the first pattern of that name, or null for an unknown name.
[[nodiscard]] const Pattern* find_pattern(Patterns patterns, std::string_view name);
// The same for a pattern that must exist.
[[nodiscard]] const Pattern& get_pattern(Patterns patterns, std::string_view name);
// All names, each once.
[[nodiscard]] std::string pattern_names(Patterns patterns);

}  // namespace chiplog
