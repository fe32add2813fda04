// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "layers/cycles.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace strata {
namespace {

constexpr size_t kBits = 64;  // hops that are looked at at once

// Depth first from one hop after the other; without recursion, as ways may be long.
class DepthFirst {
 public:
  explicit DepthFirst(const Edges& edges) {
    for (const auto& [begin, end] : edges) after_[begin].push_back(end);
  }

  void from(int64_t start) {
    if (done_.contains(start)) return;
    enter(start);
    while (!stack_.empty()) {
      auto& [at, next] = stack_.back();
      const Many<int64_t>& steps = after_[at];
      if (next == steps.size()) {
        done_.insert(at);
        path_.erase(at);
        stack_.pop_back();
        continue;
      }
      const int64_t step = steps[next++];
      if (path_.contains(step)) {
        back.emplace_back(at, step);
      } else if (!done_.contains(step)) {
        enter(step);
      }
    }
  }

  Edges back;

 private:
  void enter(int64_t hop) {
    path_.insert(hop);
    stack_.emplace_back(hop, 0);
  }

  std::map<int64_t, Many<int64_t>> after_;
  std::set<int64_t> done_;
  std::set<int64_t> path_;
  std::vector<std::pair<int64_t, size_t>> stack_;
};

// Bits of the hops that each message's causes were at, over any number of links.
bool meets_itself(const std::vector<uint64_t>& own, Ints child, Ints parent,
                  const Many<uint32_t>& links, size_t steps) {
  std::vector<uint64_t> before(own.size(), 0);
  for (size_t step = 0; step < steps; ++step) {
    bool has_more = false;
    for (const uint32_t link : links) {
      const auto to = static_cast<size_t>(child[link]), from = static_cast<size_t>(parent[link]);
      const uint64_t bits = before[to] | before[from] | own[from];
      if ((bits & own[to]) != 0) return true;
      has_more = has_more || bits != before[to];
      before[to] = bits;
    }
    if (!has_more) return false;
  }
  return false;
}

}  // namespace

Edges back_edges(const Edges& edges) {
  std::set<int64_t> reached, begins;
  for (const auto& [begin, end] : edges) {
    begins.insert(begin);
    if (begin != end) reached.insert(end);
  }
  DepthFirst search(edges);
  for (const bool is_reached : {false, true}) {
    for (const int64_t hop : begins) {
      if (reached.contains(hop) == is_reached) search.from(hop);
    }
  }
  std::ranges::sort(search.back);
  return std::move(search.back);
}

Many<int64_t> on_cycles(Edges edges) {
  std::set<int64_t> begins, ends;
  for (size_t count = edges.size() + 1; edges.size() != count;) {
    count = edges.size();
    begins.clear();
    ends.clear();
    for (const auto& [begin, end] : edges) {
      begins.insert(begin);
      ends.insert(end);
    }
    std::erase_if(edges, [&](const auto& edge) {
      return !ends.contains(edge.first) || !begins.contains(edge.second);
    });
  }
  std::set<int64_t> hops;
  for (const auto& [begin, end] : edges) {
    hops.insert(begin);
    hops.insert(end);
  }
  return {hops.begin(), hops.end()};
}

bool comes_back(Ints hop, Ints child, Ints parent, const Many<uint32_t>& links,
                const Many<int64_t>& cyclic) {
  std::unordered_map<int64_t, size_t> number;
  for (const int64_t one : cyclic) number.emplace(one, number.size());
  const auto is_cyclic = [&](int64_t message) {
    return number.contains(hop[static_cast<size_t>(message)]);
  };
  Many<uint32_t> inside;
  for (const uint32_t link : links) {
    if (is_cyclic(child[link]) && is_cyclic(parent[link])) inside.push_back(link);
  }
  std::vector<uint64_t> own(hop.size());
  for (size_t first = 0; first < cyclic.size(); first += kBits) {
    for (size_t message = 0; message < hop.size(); ++message) {
      const auto known = number.find(hop[message]);
      const size_t bit = known == number.end() ? kBits : known->second - first;
      own[message] = bit < kBits ? uint64_t{1} << bit : 0;
    }
    if (meets_itself(own, child, parent, inside, cyclic.size())) return true;
  }
  return false;
}

}  // namespace strata
