// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/blockers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/clock_readings.hpp"

namespace strata {
namespace {

constexpr size_t kFew = 6;     // pieces within a wait up to which they are added one by one
constexpr size_t kNamed = 24;  // works of a lane that are told apart for messages in a backlog

// What ran, and how long. Works are 0 for an unknown callback, and else one more than twice the
// callback, or than that and one for a take.
struct WorkShare {
  uint32_t work;
  int64_t ns;
};

struct Piece {
  int64_t start_ns;
  int64_t until_ns;
  uint32_t work;
};

uint32_t work_of(int64_t callback, bool is_take) {
  if (callback == kNone) return 0;
  return static_cast<uint32_t>(2 * callback) + (is_take ? 2 : 1);
}
bool is_take(uint32_t work) { return work != 0 && work % 2 == 0; }

// Rows of each number in their order, where the numbers are few.
class RowsOf {
 public:
  explicit RowsOf(Ints numbers) {
    each_count(numbers, first_, [](size_t& count, size_t) { ++count; });
    size_t before = 0;
    for (auto& [number, count] : first_) before += std::exchange(count, before);
    rows_.resize(numbers.size());
    auto next = first_;
    each_count(numbers, next,
               [this](size_t& place, size_t row) { rows_[place++] = static_cast<uint32_t>(row); });
  }

  std::span<uint32_t> of(int64_t number) {
    const auto own = first_.find(number);
    if (own == first_.end()) return {};
    const auto next = std::next(own);
    const size_t end = next == first_.end() ? rows_.size() : next->second;
    return std::span(rows_).subspan(own->second, end - own->second);
  }
  template <typename Visitor>
  void each(Visitor&& visit) {
    for (const auto& [number, unused] : first_) visit(number, of(number));
  }

 private:
  // Numbers that are looked up in a table; others are in the map alone.
  static constexpr int64_t kDense = 1 << 12;

  template <typename Visitor>
  static void each_count(Ints numbers, std::map<int64_t, size_t>& counts, Visitor&& visit) {
    std::vector<size_t*> near(static_cast<size_t>(kDense), nullptr);
    for (size_t row = 0; row < numbers.size(); ++row) {
      const int64_t number = numbers[row];
      if (number < 0 || number >= kDense) {
        visit(counts[number], row);
        continue;
      }
      size_t*& count = near[static_cast<size_t>(number)];
      if (count == nullptr) count = &counts[number];
      visit(*count, row);
    }
  }

  std::map<int64_t, size_t> first_;
  Many<uint32_t> rows_;
};

// How many of some ascending values are before a bound, which mostly lies close to the last one.
class NearPlace {
 public:
  template <typename IsBefore>
  size_t find(size_t count, IsBefore&& is_before) {
    size_t low = std::min(place_, count), high = low;
    for (size_t step = 1; low > 0 && !is_before(low - 1); step *= 2) {
      high = low - 1;
      low -= std::min(step, low);
    }
    for (size_t step = 1; high < count && is_before(high); step *= 2) {
      low = high + 1;
      high = std::min(high + step, count);
    }
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (is_before(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return place_ = low;
  }

 private:
  size_t place_ = 0;
};

// How much counts of pieces of a thread's work for the messages of a group: the time in which the
// executor neither waited for work nor was kept from it by the group.
class Counted {
 public:
  Counted(const ExecutorClocks& clocks, int64_t group, int64_t lane)
      : running_(clocks.running, group),
        waits_(clocks.waits, lane),
        both_(clocks.both, clocks.running, group, clocks.waits, lane) {}

  int64_t operator()(int64_t from_ns, int64_t to_ns) {
    const int64_t idle = minus(waits_.within(from_ns, to_ns), both_.within(from_ns, to_ns));
    return minus(minus(to_ns, from_ns), plus(running_.within(from_ns, to_ns), idle));
  }

 private:
  LaneReading running_;
  LaneReading waits_;
  OverlapReading both_;
};

// What was done one after the other: on a thread, or in a callback group.
class Lane {
 public:
  // Pieces are by start. Without `counted` all time counts.
  Lane(std::span<const Piece> pieces, std::optional<Counted> counted)
      : pieces_(pieces), counted_(std::move(counted)) {
    const auto until = [](const Piece& piece) { return piece.until_ns; };
    if (std::ranges::is_sorted(pieces, {}, until)) return;
    for (const Piece& piece : pieces) until_ns_.push_back(piece.until_ns);
    std::ranges::sort(until_ns_);
  }

  // Adds what ran between two instants.
  void add(int64_t begin_ns, int64_t end_ns, Many<WorkShare>& shares) {
    const size_t first = over_by(begin_ns), last = begun_before(end_ns);
    if (last <= first) return;
    if (last - first <= kFew) {
      for (size_t at = first; at < last; ++at) add_piece(at, begin_ns, end_ns, shares);
      return;
    }
    add_piece(first, begin_ns, end_ns, shares);
    add_piece(last - 1, begin_ns, end_ns, shares);
    add_whole(first + 1, last - 1, shares);
  }

 private:
  static constexpr size_t kBlock = 64;
  static constexpr size_t kSlots = kNamed + 1;  // the last is of all other work
  using Sums = std::array<int64_t, kSlots>;

  size_t over_by(int64_t at_ns) {
    return over_.find(pieces_.size(), [&](size_t at) {
      return (until_ns_.empty() ? pieces_[at].until_ns : until_ns_[at]) <= at_ns;
    });
  }
  size_t begun_before(int64_t at_ns) {
    return begun_.find(pieces_.size(), [&](size_t at) { return pieces_[at].start_ns < at_ns; });
  }
  int64_t counted(int64_t from_ns, int64_t to_ns) {
    return counted_ ? (*counted_)(from_ns, to_ns) : minus(to_ns, from_ns);
  }

  void add_piece(size_t at, int64_t begin_ns, int64_t end_ns, Many<WorkShare>& shares) {
    const Piece& piece = pieces_[at];
    // A take that goes on beyond the end of the wait is the message's own.
    if (is_take(piece.work) && piece.until_ns > end_ns) return;
    const int64_t ns =
        counted(std::max(piece.start_ns, begin_ns), std::min(piece.until_ns, end_ns));
    if (ns > 0) shares.push_back({piece.work, ns});
  }

  // Of pieces that lie in a wait whole, the sums of each named work.
  void add_whole(size_t first, size_t last, Many<WorkShare>& shares) {
    if (slot_of_.empty()) sum_up();
    Sums sums{};
    size_t at = first;
    for (; at < last && at % kBlock != 0; ++at) {
      sums[slot_of_[at]] = plus(sums[slot_of_[at]], whole_ns_[at]);
    }
    if (last - at >= kBlock) {
      const Sums &low = before_[at / kBlock], &high = before_[last / kBlock];
      for (size_t slot = 0; slot < kSlots; ++slot) {
        sums[slot] = plus(sums[slot], minus(high[slot], low[slot]));
      }
      at = last / kBlock * kBlock;
    }
    for (; at < last; ++at) sums[slot_of_[at]] = plus(sums[slot_of_[at]], whole_ns_[at]);
    for (size_t slot = 0; slot < named_.size(); ++slot) {
      if (sums[slot] > 0) shares.push_back({named_[slot], sums[slot]});
    }
    if (sums[kNamed] > 0) shares.push_back({0, sums[kNamed]});
  }

  void sum_up() {
    std::map<uint32_t, int64_t> totals;
    for (const Piece& piece : pieces_) {
      whole_ns_.push_back(counted(piece.start_ns, piece.until_ns));
      int64_t& total = totals[piece.work];
      total = plus(total, whole_ns_.back());
    }
    std::vector<std::pair<uint32_t, int64_t>> longest(totals.begin(), totals.end());
    std::ranges::stable_sort(longest, std::ranges::greater{},
                             &std::pair<uint32_t, int64_t>::second);
    if (longest.size() > kNamed) longest.resize(kNamed);
    std::unordered_map<uint32_t, uint8_t> slots;
    for (const auto& [work, total] : longest) {
      slots.emplace(work, static_cast<uint8_t>(named_.size()));
      named_.push_back(work);
    }
    Sums sums{};
    for (size_t at = 0; at < pieces_.size(); ++at) {
      if (at % kBlock == 0) before_.push_back(sums);
      const auto slot = slots.find(pieces_[at].work);
      slot_of_.push_back(slot == slots.end() ? uint8_t{kNamed} : slot->second);
      sums[slot_of_[at]] = plus(sums[slot_of_[at]], whole_ns_[at]);
    }
    if (pieces_.size() % kBlock == 0) before_.push_back(sums);
  }

  std::span<const Piece> pieces_;
  std::optional<Counted> counted_;
  NearPlace over_;
  NearPlace begun_;
  Many<int64_t> until_ns_;  // in ascending order, where that is not the pieces'
  // Of messages in a backlog.
  Many<uint32_t> named_;
  Many<uint8_t> slot_of_;
  Many<int64_t> whole_ns_;
  Many<Sums> before_;  // by block: of all pieces before
};

// The work of one thread by time. A take begins when what ran before it is over, at the earliest.
Many<Piece> pieces_of(const WorkColumns& work, std::span<uint32_t> rows) {
  const auto start = [&](uint32_t row) { return work.start_ns[row]; };
  if (!std::ranges::is_sorted(rows, {}, start)) std::ranges::stable_sort(rows, {}, start);
  Many<Piece> pieces;
  int64_t until_ns = kNone;
  for (const uint32_t row : rows) {
    const int64_t start_ns = work.start_ns[row];
    const int64_t took_ns = work.took_ns[row];
    const int64_t since_ns = std::max(took_ns, until_ns);
    if (took_ns != kNone && since_ns < start_ns) {
      pieces.push_back({since_ns, start_ns, work_of(work.callback[row], true)});
    }
    until_ns = work.until_ns[row];
    pieces.push_back({start_ns, until_ns, work_of(work.callback[row], false)});
  }
  const auto key = [](const Piece& piece) { return std::tie(piece.start_ns, piece.until_ns); };
  if (!std::ranges::is_sorted(pieces, {}, key)) std::ranges::stable_sort(pieces, {}, key);
  return pieces;
}

class Search {
 public:
  Search(const WaitingColumns& messages, const WorkColumns& work, const RunColumns& runs,
         const ExecutorClocks& clocks)
      : messages_(messages),
        work_(work),
        clocks_(clocks),
        runs_of_(runs.spans.group),
        runs_(runs) {}

  BlockerRows find() {
    RowsOf messages_of(messages_.thread), work_of(work_.thread);
    first_.assign(messages_.size(), 0);
    size_.assign(messages_.size(), 0);
    messages_of.each([&](int64_t thread, std::span<uint32_t> own) {
      const Many<Piece> pieces = pieces_of(work_, work_of.of(thread));
      // One group after the other.
      const auto group = [this](uint32_t row) { return messages_.group[row]; };
      if (!std::ranges::is_sorted(own, {}, group)) std::ranges::stable_sort(own, {}, group);
      std::optional<Lane> lane;
      for (size_t at = 0; at < own.size(); ++at) {
        if (at == 0 || group(own[at]) != group(own[at - 1])) {
          const int64_t number = messages_.lane[own[at]];
          lane.emplace(pieces, Counted(clocks_, group(own[at]), number));
        }
        look_at(own[at], *lane);
      }
    });
    return rows();
  }

 private:
  struct GroupLane {
    Many<Piece> pieces;
    Lane lane;
  };

  void look_at(uint32_t message, Lane& lane) {
    const int64_t begin_ns = messages_.begin_ns[message], end_ns = messages_.end_ns[message];
    shares_.clear();
    lane.add(begin_ns, end_ns, shares_);
    if (messages_.group[message] != kNone) {
      lane_of_group(messages_.group[message]).add(begin_ns, end_ns, shares_);
    }
    if (!std::ranges::is_sorted(shares_, {}, &WorkShare::work)) {
      std::ranges::stable_sort(shares_, {}, &WorkShare::work);
    }
    first_[message] = found_.size();
    for (const WorkShare& share : shares_) {
      if (found_.size() > first_[message] && found_.back().work == share.work) {
        found_.back().ns = plus(found_.back().ns, share.ns);
      } else {
        found_.push_back(share);
      }
    }
    size_[message] = static_cast<uint32_t>(found_.size() - first_[message]);
  }

  Lane& lane_of_group(int64_t group) {
    const auto known = groups_.find(group);
    if (known != groups_.end()) return known->second.lane;
    Many<Piece> pieces;
    for (const uint32_t row : runs_of_.of(group)) {
      pieces.push_back({runs_.spans.begin_ns[row], runs_.spans.end_ns[row],
                        work_of(runs_.callback[row], false)});
    }
    // Pieces stay where they are when their vector moves.
    const std::span<const Piece> kept = pieces;
    GroupLane made{std::move(pieces), Lane(kept, std::nullopt)};
    return groups_.emplace(group, std::move(made)).first->second.lane;
  }

  BlockerRows rows() const {
    BlockerRows rows;
    for (size_t message = 0; message < first_.size(); ++message) {
      for (size_t at = first_[message]; at < first_[message] + size_[message]; ++at) {
        const uint32_t work = found_[at].work;
        rows.message.push_back(static_cast<int64_t>(message));
        rows.callback.push_back(work == 0 ? kNone : static_cast<int64_t>((work - 1) / 2));
        rows.is_take.push_back(is_take(work) ? 1 : 0);
        rows.duration_ns.push_back(found_[at].ns);
      }
    }
    return rows;
  }

  const WaitingColumns& messages_;
  const WorkColumns& work_;
  const ExecutorClocks& clocks_;
  RowsOf runs_of_;
  const RunColumns& runs_;
  std::unordered_map<int64_t, GroupLane> groups_;
  Many<WorkShare> shares_;
  Many<WorkShare> found_;  // the rows of each message one after the other
  Many<size_t> first_;     // by message
  Many<uint32_t> size_;
};

void require_numbers(Ints numbers, int64_t least) {
  constexpr int64_t kMost = (int64_t{1} << 30) - 1;
  for (const int64_t number : numbers) {
    if (number >= least && number <= kMost) continue;
    throw std::invalid_argument("a callback or callback group has the number " +
                                std::to_string(number));
  }
}

}  // namespace

BlockerRows find_blockers(const WaitingColumns& messages, const WorkColumns& work,
                          const RunColumns& runs, const ExecutorClocks& clocks) {
  require_one_length(
      {{messages.thread, messages.lane, messages.group, messages.begin_ns, messages.end_ns}});
  require_one_length({{work.thread, work.start_ns, work.until_ns, work.callback, work.took_ns}});
  require_one_length({{runs.spans.group, runs.spans.begin_ns, runs.spans.end_ns, runs.callback}});
  require_numbers(work.callback, kNone);
  require_numbers(runs.callback, kNone);
  require_numbers(runs.spans.group, 0);
  if (messages.size() > UINT32_MAX || work.thread.size() > UINT32_MAX ||
      runs.callback.size() > UINT32_MAX) {
    throw std::invalid_argument("a table has 2^32 rows or more");
  }
  return Search(messages, work, runs, clocks).find();
}

}  // namespace strata
