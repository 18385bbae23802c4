#include "simulation/matching.hpp"

#include <algorithm>

namespace chiplog::simulation {
namespace {

constexpr std::uint32_t kFirstSlots = 4;

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9E3779B97F4A7C15U;
  return value ^ (value >> 32);
}

std::uint64_t hash_of(std::uint32_t source, std::uint32_t tag) { return mixed((std::uint64_t{tag} << 32) | source); }

}  // namespace

ExactMatching::ExactMatching(const Schedule& schedule, Links& links)
    : operations_(schedule.operations),
      links_(links),
      tables_(schedule.ranks),
      slots_(std::size_t{kFirstSlots} * schedule.ranks) {
  for (std::size_t rank = 0; rank < tables_.size(); ++rank) tables_[rank] = {rank * kFirstSlots, kFirstSlots - 1, 0};
}

std::size_t ExactMatching::home(const Table& table, std::uint32_t source, std::uint32_t tag) const {
  return hash_of(source, tag) & table.mask;
}

std::size_t ExactMatching::find(const Table& table, std::uint32_t source, std::uint32_t tag) const {
  for (std::size_t place = home(table, source, tag);; place = (place + 1) & table.mask) {
    const Slot& slot = slots_[table.begin + place];
    if (slot.list.first == kNone || (slot.source == source && slot.tag == tag)) return place;
  }
}

std::uint32_t ExactMatching::meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag,
                                  std::uint32_t operation) {
  Table& table = tables_[rank];
  const std::size_t place = find(table, source, tag);
  Slot& slot = slots_[table.begin + place];
  if (slot.list.first == kNone) {
    slot.source = source;
    slot.tag = tag;
    links_.append(slot.list, operation);
    if (++table.used > (table.mask + 1) / 4 * 3) grow(table);
    return kNone;
  }
  if (operations_[slot.list.first].kind == operations_[operation].kind) {
    links_.append(slot.list, operation);
    return kNone;
  }
  const std::uint32_t counterpart = links_.take_first(slot.list);
  if (slot.list.first == kNone) remove(table, place);
  return counterpart;
}

// Moves back what a search would no longer reach over the freed slot.
void ExactMatching::remove(Table& table, std::size_t place) {
  --table.used;
  std::size_t hole = place;
  for (std::size_t next = (hole + 1) & table.mask;; next = (next + 1) & table.mask) {
    const Slot& slot = slots_[table.begin + next];
    if (slot.list.first == kNone) break;
    const std::size_t wanted = home(table, slot.source, slot.tag);
    if (((next - wanted) & table.mask) < ((next - hole) & table.mask)) continue;
    slots_[table.begin + hole] = slot;
    hole = next;
  }
  slots_[table.begin + hole].list = {};
}

void ExactMatching::grow(Table& table) {
  const Table old = table;
  table = {slots_.size(), old.mask * 2 + 1, old.used};
  slots_.resize(slots_.size() + table.mask + 1);
  for (std::size_t place = 0; place <= old.mask; ++place) {
    const Slot& slot = slots_[old.begin + place];
    if (slot.list.first != kNone) slots_[table.begin + find(table, slot.source, slot.tag)] = slot;
  }
}

std::vector<std::uint32_t> ExactMatching::waiting() {
  std::vector<std::uint32_t> found;
  for (const Table& table : tables_) {
    for (std::size_t place = 0; place <= table.mask; ++place) {
      std::uint32_t operation = slots_[table.begin + place].list.first;
      for (; operation != kNone; operation = links_.next(operation)) found.push_back(operation);
    }
  }
  return found;
}

WildcardMatching::WildcardMatching(const Schedule& schedule, Links& /*links*/)
    : operations_(schedule.operations), taken_(schedule.operations.size()) {}

std::size_t WildcardMatching::Hash::operator()(const Key& key) const {
  return mixed(hash_of(key.source, key.tag) + key.rank);
}

std::array<WildcardMatching::Key, 4> WildcardMatching::keys(std::uint32_t rank, std::uint32_t source,
                                                            std::uint32_t tag) {
  return {Key{rank, source, tag}, Key{rank, kAny, tag}, Key{rank, source, kAny}, Key{rank, kAny, kAny}};
}

std::uint32_t WildcardMatching::meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag,
                                     std::uint32_t operation) {
  const Key key{rank, source, tag};
  return operations_[operation].kind == Kind::send ? meet_receive(key, operation) : meet_message(key, operation);
}

std::uint32_t WildcardMatching::meet_receive(const Key& message, std::uint32_t operation) {
  std::deque<Posted>* longest = nullptr;
  const std::array<Key, 4> asked = keys(message.rank, message.source, message.tag);
  for (const Key& key : asked) {
    const auto found = receives_.find(key);
    if (found == receives_.end() || found->second.empty()) continue;
    if (longest == nullptr || found->second.front().order < longest->front().order) longest = &found->second;
  }
  if (longest != nullptr) {
    const std::uint32_t receive = longest->front().operation;
    longest->pop_front();
    return receive;
  }
  for (const Key& key : asked) messages_[key].push_back(operation);
  return kNone;
}

std::uint32_t WildcardMatching::meet_message(const Key& receive, std::uint32_t operation) {
  std::deque<std::uint32_t>& arrived = messages_[receive];
  while (!arrived.empty()) {
    const std::uint32_t message = arrived.front();
    arrived.pop_front();
    if (taken_[message]) continue;
    taken_[message] = true;
    return message;
  }
  receives_[receive].push_back({posts_++, operation});
  return kNone;
}

std::vector<std::uint32_t> WildcardMatching::waiting() {
  std::vector<std::uint32_t> found;
  for (const auto& [key, queue] : receives_)
    for (const Posted& posted : queue) found.push_back(posted.operation);
  for (const auto& [key, queue] : messages_) {
    if (key.source != kAny || key.tag != kAny) continue;
    std::copy_if(queue.begin(), queue.end(), std::back_inserter(found),
                 [this](std::uint32_t message) { return !taken_[message]; });
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace chiplog::simulation
