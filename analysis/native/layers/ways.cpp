// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "layers/ways.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "layers/cycles.hpp"

namespace strata {
namespace {

constexpr size_t kRowsAMessage = 32;  // ways through one message on the average

// Two numbers of less than 32 bits as one.
uint64_t joined(int64_t high, int64_t low) {
  return static_cast<uint64_t>(high) << 32U | static_cast<uint64_t>(low);
}

class Following {
 public:
  Following(Ints hop, Flags is_headless, const LinkColumns& links)
      : hop_(hop), is_headless_(is_headless), links_(links) {}

  WayRows follow();

 private:
  // Links that are followed, by parent.
  struct Followed {
    Many<uint32_t> first;  // by message
    Many<uint32_t> links;
  };

  void require_messages() const;
  Many<uint32_t> followed() const;
  void leave_cycles(Many<uint32_t>& links) const;
  Followed by_parent(const Many<uint32_t>& links) const;
  void begin(const Many<uint32_t>& links);
  bool may_go_on(const Followed& on, size_t first);
  void go_on(const Followed& on, size_t first);
  void number_ways(size_t first);
  void add(int64_t message, int64_t previous, int64_t link, bool is_headless);
  int64_t hop_of(int64_t message) const { return hop_[static_cast<size_t>(message)]; }

  Ints hop_;
  Flags is_headless_;
  const LinkColumns& links_;
  WayRows rows_;
};

void Following::require_messages() const {
  if (hop_.size() > UINT32_MAX || links_.size() > UINT32_MAX) {
    throw std::invalid_argument("messages or links have 2^32 rows or more");
  }
  if (!is_headless_.empty() && is_headless_.size() != hop_.size()) {
    throw std::invalid_argument("messages have " + std::to_string(hop_.size()) + " and " +
                                std::to_string(is_headless_.size()) + " rows");
  }
  if (!links_.is_allowed.empty() && links_.is_allowed.size() != links_.size()) {
    throw std::invalid_argument("links have " + std::to_string(links_.size()) + " and " +
                                std::to_string(links_.is_allowed.size()) + " rows");
  }
  for (const Ints ends : {links_.child, links_.parent}) {
    for (const int64_t message : ends) {
      if (is_row(message, hop_.size())) continue;
      throw std::invalid_argument("a link names message " + std::to_string(message) + " of " +
                                  std::to_string(hop_.size()));
    }
  }
  for (const int64_t hop : hop_) {
    if (hop < kNone || hop >= INT32_MAX) {
      throw std::invalid_argument("a message has hop " + std::to_string(hop));
    }
  }
}

Many<uint32_t> Following::followed() const {
  Many<uint32_t> links;
  for (size_t link = 0; link < links_.size(); ++link) {
    if (!links_.is_allowed.empty() && links_.is_allowed[link] == 0) continue;
    if (hop_of(links_.child[link]) == kNone || hop_of(links_.parent[link]) == kNone) continue;
    links.push_back(static_cast<uint32_t>(link));
  }
  leave_cycles(links);
  return links;
}

// Leaves out the links that close a cycle of hops, where messages really go round one.
void Following::leave_cycles(Many<uint32_t>& links) const {
  const auto key = [&](uint32_t link) {
    return joined(hop_of(links_.parent[link]), hop_of(links_.child[link]));
  };
  std::unordered_set<uint64_t> keys;
  for (const uint32_t link : links) keys.insert(key(link));
  Edges edges;
  for (const uint64_t one : keys) {
    edges.emplace_back(static_cast<int64_t>(one >> 32U), static_cast<int64_t>(one & UINT32_MAX));
  }
  std::ranges::sort(edges);
  const Edges back = back_edges(edges);
  if (back.empty()) return;
  if (!comes_back(hop_, links_.child, links_.parent, links, on_cycles(edges))) return;
  std::unordered_set<uint64_t> closing;
  for (const auto& [begin, end] : back) closing.insert(joined(begin, end));
  std::erase_if(links, [&](uint32_t link) { return closing.contains(key(link)); });
}

Following::Followed Following::by_parent(const Many<uint32_t>& links) const {
  Followed on{Many<uint32_t>(hop_.size() + 1), Many<uint32_t>(links.size())};
  for (const uint32_t link : links) ++on.first[static_cast<size_t>(links_.parent[link]) + 1];
  std::partial_sum(on.first.begin(), on.first.end(), on.first.begin());
  Many<uint32_t> next(on.first.begin(), on.first.end() - 1);
  for (const uint32_t link : links) {
    on.links[next[static_cast<size_t>(links_.parent[link])]++] = link;
  }
  return on;
}

void Following::add(int64_t message, int64_t previous, int64_t link, bool is_headless) {
  rows_.message.push_back(message);
  rows_.previous.push_back(previous);
  rows_.link.push_back(link);
  rows_.is_end.push_back(1);
  rows_.is_capped.push_back(0);
  rows_.is_headless.push_back(is_headless ? 1 : 0);
}

void Following::begin(const Many<uint32_t>& links) {
  Many<uint8_t> is_caused(hop_.size(), 0);
  for (const uint32_t link : links) is_caused[static_cast<size_t>(links_.child[link])] = 1;
  for (size_t message = 0; message < hop_.size(); ++message) {
    if (hop_[message] == kNone || is_caused[message] != 0) continue;
    const bool is_headless = !is_headless_.empty() && is_headless_[message] != 0;
    add(static_cast<int64_t>(message), kNone, kNone, is_headless);
  }
}

// Numbers the ways of rows from `first` on, in the order of the ways before them and of their hops.
void Following::number_ways(size_t first) {
  std::unordered_map<uint64_t, int64_t> number;
  std::vector<uint64_t> keys;
  const auto known = static_cast<int64_t>(rows_.before.size());
  for (size_t row = first; row < rows_.message.size(); ++row) {
    const int64_t previous = rows_.previous[row];
    const int64_t before = previous == kNone ? kNone : rows_.way[static_cast<size_t>(previous)];
    const uint64_t key = joined(before + 1, hop_of(rows_.message[row]));
    const auto [place, is_new] = number.emplace(key, static_cast<int64_t>(keys.size()));
    if (is_new) keys.push_back(key);
    rows_.way.push_back(place->second);
  }
  Many<int64_t> rank(keys.size());
  std::ranges::sort(keys);
  for (const uint64_t key : keys) {
    rank[static_cast<size_t>(number[key])] = static_cast<int64_t>(rows_.before.size());
    rows_.before.push_back(static_cast<int64_t>(key >> 32U) - 1);
    rows_.hop.push_back(static_cast<int64_t>(key & UINT32_MAX));
  }
  if (static_cast<int64_t>(rows_.before.size()) == known) return;
  for (size_t row = first; row < rows_.way.size(); ++row) {
    rows_.way[row] = rank[static_cast<size_t>(rows_.way[row])];
  }
}

// Whether the ways of rows from `first` on are not too many to be followed on.
bool Following::may_go_on(const Followed& on, size_t first) {
  const size_t end = rows_.message.size();
  size_t count = 0;
  for (size_t row = first; row < end; ++row) {
    const auto message = static_cast<size_t>(rows_.message[row]);
    count += on.first[message + 1] - on.first[message];
  }
  if (end + count <= kRowsAMessage * hop_.size()) return true;
  rows_.unfollowed = static_cast<int64_t>(count);
  for (size_t row = first; row < end; ++row) {
    const auto message = static_cast<size_t>(rows_.message[row]);
    rows_.is_capped[row] = on.first[message + 1] > on.first[message] ? 1 : 0;
  }
  return false;
}

void Following::go_on(const Followed& on, size_t first) {
  const size_t end = rows_.message.size();
  for (size_t row = first; row < end; ++row) {
    const auto message = static_cast<size_t>(rows_.message[row]);
    for (size_t at = on.first[message]; at < on.first[message + 1]; ++at) {
      const uint32_t link = on.links[at];
      rows_.is_end[row] = 0;
      add(links_.child[link], static_cast<int64_t>(row), link, rows_.is_headless[row] != 0);
    }
  }
}

WayRows Following::follow() {
  require_messages();
  const Many<uint32_t> links = followed();
  const Followed on = by_parent(links);
  begin(links);
  size_t first = 0;
  number_ways(first);
  while (first < rows_.message.size() && may_go_on(on, first)) {
    const size_t end = rows_.message.size();
    go_on(on, first);
    first = end;
    number_ways(first);
  }
  return std::move(rows_);
}

}  // namespace

WayRows follow_ways(Ints hop, Flags is_headless, const LinkColumns& links) {
  require_one_length({{links.child, links.parent}});
  return Following(hop, is_headless, links).follow();
}

InstanceRows collect_instances(Ints message, Ints previous, Ints link, Ints ends, size_t length) {
  require_one_length({{message, previous, link}});
  const auto row_of = [&](int64_t row) {
    if (is_row(row, message.size())) return static_cast<size_t>(row);
    throw std::invalid_argument("a way is shorter than " + std::to_string(length) + " hops");
  };
  Many<size_t> rows;
  for (const int64_t end : ends) rows.push_back(row_of(end));
  std::ranges::stable_sort(rows, {}, [&](size_t row) { return message[row]; });
  InstanceRows found{Many<int64_t>(rows.size() * length), Many<int64_t>(rows.size() * length)};
  for (size_t instance = 0; instance < rows.size(); ++instance) {
    size_t row = rows[instance];
    for (size_t step = length; step-- > 0;) {
      found.message[instance * length + step] = message[row];
      found.link[instance * length + step] = link[row];
      if (step > 0) row = row_of(previous[row]);
    }
  }
  return found;
}

}  // namespace strata
