// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/cpu_waits.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace strata {
namespace {

struct Wait {
  int64_t message;
  int64_t layer;
  int64_t thread;
  int64_t about_ns;
  int64_t least_ns;
  int64_t most_ns;

  auto key() const { return std::tie(message, layer, thread); }
};

// How long the thread of each window was needed in it, as far as is known.
std::vector<int64_t> needed(const Stretches& stretches, const SampleWindows& windows,
                            const Spans& callbacks, const Spans& waits) {
  std::vector<int64_t> thread(callbacks.group.begin(), callbacks.group.end());
  std::vector<int64_t> begin_ns(callbacks.begin_ns.begin(), callbacks.begin_ns.end());
  std::vector<int64_t> end_ns(callbacks.end_ns.begin(), callbacks.end_ns.end());
  for (size_t row = 0; row < stretches.size(); ++row) {
    // Executor wait begins with the message, not with the thread's work for it.
    if (stretches.idle[row] == 0) continue;
    thread.push_back(stretches.thread[row]);
    begin_ns.push_back(stretches.begin_ns[row]);
    end_ns.push_back(stretches.end_ns[row]);
  }
  const Clock work({thread, begin_ns, end_ns});
  const Clock waiting(waits);
  std::vector<int64_t> found;
  for (size_t row = 0; row < windows.size(); ++row) {
    const int64_t own = windows.thread[row];
    const int64_t from_ns = windows.begin_ns[row], until_ns = windows.end_ns[row];
    const int64_t known = work.within(own, from_ns, until_ns);
    const int64_t awake = minus(minus(until_ns, from_ns), waiting.within(own, from_ns, until_ns));
    found.push_back(waiting.knows(own) ? std::max(awake, known) : known);
  }
  return found;
}

// A row for a piece of a stretch, of which `inside_ns` lie in a window.
Wait spread(int64_t inside_ns, const SampleWindows& windows, size_t window, int64_t needed_ns) {
  const int64_t wait_ns = windows.wait_ns[window], cpu_ns = windows.cpu_ns[window];
  const int64_t length_ns = minus(windows.end_ns[window], windows.begin_ns[window]);
  const int64_t most = std::min(inside_ns, wait_ns);
  const int64_t rest = minus(inside_ns, minus(length_ns, wait_ns));
  const int64_t least = std::min(std::max(rest, int64_t{0}), most);
  const int64_t busy_ns = std::max({needed_ns, plus(wait_ns, cpu_ns), int64_t{1}});
  const double share = static_cast<double>(wait_ns) / static_cast<double>(busy_ns);
  // At most `inside_ns` in all but windows of values that no clock has.
  const double about = std::nearbyint(static_cast<double>(inside_ns) * share);
  const bool is_far = !(about < 9.2e18);
  const int64_t whole = is_far ? most : static_cast<int64_t>(about);
  return {0, 0, 0, std::min(std::max(whole, least), most), least, most};
}

CpuWaits added_up(std::vector<Wait>& found) {
  std::ranges::sort(found, {}, &Wait::key);
  CpuWaits rows;
  for (size_t i = 0; i < found.size();) {
    Wait sum = found[i];
    for (++i; i < found.size() && found[i].key() == sum.key(); ++i) {
      sum.about_ns = plus(sum.about_ns, found[i].about_ns);
      sum.least_ns = plus(sum.least_ns, found[i].least_ns);
      sum.most_ns = plus(sum.most_ns, found[i].most_ns);
    }
    if (sum.most_ns <= 0) continue;
    rows.message.push_back(sum.message);
    rows.layer.push_back(sum.layer);
    rows.thread.push_back(sum.thread);
    rows.about_ns.push_back(sum.about_ns);
    rows.least_ns.push_back(sum.least_ns);
    rows.most_ns.push_back(sum.most_ns);
  }
  return rows;
}

}  // namespace

SampleWindows separate(const WindowColumns& sampled) {
  const Spans& spans = sampled.spans;
  require_one_length(
      {{spans.group, spans.begin_ns, spans.end_ns, sampled.cpu_ns, sampled.wait_ns}});
  std::vector<size_t> rows;
  for (size_t row = 0; row < spans.size(); ++row) {
    if (spans.group[row] != kNone) rows.push_back(row);
  }
  std::ranges::stable_sort(
      rows, {}, [&](size_t row) { return std::tie(spans.group[row], spans.end_ns[row]); });
  SampleWindows found;
  std::vector<int64_t> beyond;
  for (const size_t row : rows) {
    const int64_t end_ns = spans.end_ns[row], wait_ns = sampled.wait_ns[row];
    const bool follows = !found.thread.empty() && found.thread.back() == spans.group[row];
    const int64_t before_ns = follows ? found.end_ns.back() : minus(spans.begin_ns[row], wait_ns);
    const int64_t begin_ns =
        std::max(std::min(spans.begin_ns[row], minus(end_ns, wait_ns)), before_ns);
    const int64_t over = minus(wait_ns, minus(end_ns, begin_ns));
    if (follows) found.wait_ns.back() = plus(found.wait_ns.back(), std::max(over, int64_t{0}));
    found.thread.push_back(spans.group[row]);
    found.begin_ns.push_back(begin_ns);
    found.end_ns.push_back(end_ns);
    found.cpu_ns.push_back(sampled.cpu_ns[row]);
    found.wait_ns.push_back(wait_ns);
  }
  for (size_t row = 0; row < found.size(); ++row) {
    const int64_t length_ns = minus(found.end_ns[row], found.begin_ns[row]);
    found.wait_ns[row] = std::min(found.wait_ns[row], std::max(length_ns, int64_t{0}));
  }
  return found;
}

CpuWaits cpu_waits(const Stretches& stretches, const SampleWindows& windows, const Occupations& did,
                   const Spans& callbacks, const Spans& waits) {
  stretches.require_one_length();
  const std::vector<int64_t> needed_ns = needed(stretches, windows, callbacks, waits);
  const Pieces sampled(windows.spans());
  std::vector<Wait> found;
  for (size_t row = 0; row < stretches.size(); ++row) {
    const auto look_at = [&](size_t window, int64_t begin_ns, int64_t end_ns) {
      if (windows.wait_ns[window] <= 0) return;
      const int64_t inside_ns = std::max(did.apart(stretches, row, begin_ns, end_ns), int64_t{0});
      Wait wait = spread(inside_ns, windows, window, needed_ns[window]);
      wait.message = stretches.message[row];
      wait.layer = stretches.layer[row];
      wait.thread = stretches.thread[row];
      found.push_back(wait);
    };
    sampled.each_within(stretches.thread[row], stretches.begin_ns[row], stretches.end_ns[row],
                        look_at);
  }
  return added_up(found);
}

}  // namespace strata
