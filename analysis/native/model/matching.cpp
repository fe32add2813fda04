// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/matching.hpp"

#include <algorithm>

namespace strata {
namespace {

constexpr int64_t kSeveral = -2;

}  // namespace

void Matching::index() {
  const auto& publishes = context_.rows.publishes;
  const Column<int32_t>& samples = context_.rows.writes.sample;
  publish_of_sample_.assign(context_.rows.samples.size(), kNone);
  for (size_t row = 0; row < publishes.size(); ++row) {
    if (publishes.of_application[row] == 0) continue;
    const auto number = static_cast<int64_t>(row);
    if (publishes.stamp[row] > 0) by_stamp_.push_back(static_cast<uint32_t>(row));
    const int64_t sample = samples.empty() ? kNone : samples[row];
    if (sample == kNone) continue;
    int64_t& only = publish_of_sample_[static_cast<size_t>(sample)];
    only = only == kNone ? number : kSeveral;
  }
  const auto stamp_of = [&](uint32_t row) { return publishes.stamp[row]; };
  // Stamps are given while publishing: their order is nearly that of the rows.
  if (!std::ranges::is_sorted(by_stamp_, {}, stamp_of)) {
    std::ranges::stable_sort(by_stamp_, {}, stamp_of);
  }
}

// The places in `by_stamp_` of the publishes with a stamp. Takes ask for it in order of time, so it
// is searched for around the place that was found last.
std::pair<size_t, size_t> Matching::places_of(int64_t stamp) const {
  const auto& stamps = context_.rows.publishes.stamp;
  const auto at = [&](size_t place) { return stamps[by_stamp_[place]]; };
  const size_t count = by_stamp_.size();
  size_t low = std::min(near_, count), high = low;
  for (size_t step = 1; low > 0 && at(low - 1) >= stamp; step *= 2) low -= std::min(step, low);
  for (size_t step = 1; high < count && at(high) < stamp; step *= 2) {
    high = std::min(high + step, count);
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (at(middle) < stamp) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  near_ = low;
  size_t end = low;
  while (end < count && at(end) == stamp) ++end;
  return {low, end};
}

// Whether a publication's topic is the take's, or one of the two is not known.
bool Matching::fits(size_t publish, int64_t topic) const {
  const Rows& rows = context_.rows;
  const int64_t own = pick(rows.publishers.topic, rows.publishes.publisher[publish]);
  return own == topic || own == kNone || topic == kNone;
}

Matching::Found Matching::by_stamp(size_t take) const {
  const Rows& rows = context_.rows;
  Found found;
  const auto [first, end] = places_of(rows.takes.stamp[take]);
  if (first == end) return found;
  const int64_t topic = pick(rows.subscriptions.topic, rows.takes.subscription[take]);
  for (size_t place = end; place > first; --place) {
    const size_t row = by_stamp_[place - 1];
    if (fits(row, topic)) found.candidates.push_back(static_cast<int64_t>(row));
  }
  found.ambiguous = found.candidates.size() > 1;
  if (found.candidates.size() != 1) return found;
  found.publish = found.candidates.front();
  found.candidates.clear();
  const auto publish = static_cast<size_t>(found.publish);
  const bool is_known =
      topic != kNone && pick(rows.publishers.topic, rows.publishes.publisher[publish]) != kNone;
  found.method = is_known ? MatchMethod::exact : MatchMethod::inferred;
  return found;
}

Matching::Found Matching::by_stamp_and_sample(size_t take) const {
  const Rows& rows = context_.rows;
  Found found = by_stamp(take);
  // Without events of the DDS hooks there are no rows of writes and reads.
  if (rows.reads.size() == 0) return found;
  const int64_t sample = rows.reads.sample[take];
  if (sample == kNone) return found;
  int64_t named = publish_of_sample_[static_cast<size_t>(sample)];
  if (named == kSeveral) named = kNone;
  const int64_t own = pick(rows.writes.sample, found.publish);
  const bool other_sample = own != kNone && own != sample;
  const bool other_publish = found.publish != kNone && named != kNone && found.publish != named;
  // Two rules that contradict each other: something is wrong, and no match is better than one.
  if (other_sample || other_publish) {
    found.contradicts = true;
    found.candidates.push_back(found.publish);
    if (named != kNone) found.candidates.push_back(named);
    found.publish = kNone;
    found.ambiguous = true;
  } else if (found.publish == kNone && named != kNone) {
    found.publish = named;
    found.method = MatchMethod::identity;
    found.ambiguous = false;
  }
  return found;
}

// A publication has one stamp: it is not inferred for another than that which it surely has.
void Matching::find_known_stamps() {
  const Rows& rows = context_.rows;
  if (rows.reads.size() == 0) return;
  for (size_t take = 0; take < rows.takes.size(); ++take) {
    const int64_t publish = by_stamp_and_sample(take).publish;
    if (publish == kNone || rows.publishes.stamp[static_cast<size_t>(publish)] > 0) continue;
    known_stamp_[publish] = rows.takes.stamp[take];
  }
}

Matching::Found Matching::decided(size_t take) const {
  Found found = by_stamp_and_sample(take);
  if (!is_inferred_ || found.publish != kNone || found.ambiguous) return found;
  const int64_t timed = times_.publish_of(take);
  found.undecided = times_.is_ambiguous(take);
  if (timed != kNone) {
    const auto known = known_stamp_.find(timed);
    if (known == known_stamp_.end() || known->second == context_.rows.takes.stamp[take]) {
      found.publish = timed;
      found.method = MatchMethod::publish_time;
    } else {
      found.undecided = true;
    }
  }
  found.ambiguous = found.undecided;
  return found;
}

int64_t Matching::host_of(int64_t thread) const {
  const auto process = context_.rows.threads.process[static_cast<size_t>(thread)];
  return context_.rows.processes.host[static_cast<size_t>(process)];
}

// A take before its publication is none of it, unless their times are of two clocks.
bool Matching::is_too_early(size_t take, int64_t publish) const {
  const Rows& rows = context_.rows;
  const auto row = static_cast<size_t>(publish);
  if (rows.takes.ns[take] >= rows.publishes.ns[row]) return false;
  const Settings& settings = context_.settings;
  return settings.clock_of(host_of(rows.takes.thread[take])) ==
         settings.clock_of(host_of(rows.publishes.thread[row]));
}

void Matching::finish() {
  index();
  is_inferred_ = times_.finish();
  if (is_inferred_) find_known_stamps();
  Rows& rows = context_.rows;
  for (size_t take = 0; take < rows.takes.size(); ++take) {
    const Found found = decided(take);
    const bool too_early = found.publish != kNone && is_too_early(take, found.publish);
    count(take, found, too_early);
    if (found.ambiguous) {
      for (const int64_t publish : found.candidates) {
        const auto row = static_cast<size_t>(rows.doubtful_takes.add());
        rows.doubtful_takes.take[row] = static_cast<int32_t>(take);
        rows.doubtful_takes.publish[row] = static_cast<int32_t>(publish);
      }
    }
    if (found.publish == kNone || too_early) continue;
    const auto row = static_cast<size_t>(rows.matches.add());
    rows.matches.publish[row] = static_cast<int32_t>(found.publish);
    rows.matches.take[row] = static_cast<int32_t>(take);
    rows.matches.method[row] = static_cast<uint8_t>(found.method);
  }
  by_stamp_ = {};
  publish_of_sample_ = {};
  known_stamp_ = {};
}

void Matching::count(size_t take, const Found& found, bool too_early) {
  const auto add = [&](Finding code) {
    context_.ledger.add_at(code, PlaceKind::subscription, context_.rows.takes.subscription[take],
                           context_.rows.takes.ns[take]);
  };
  if (found.contradicts) add(Finding::contradictory_matches);
  if (found.undecided) add(Finding::undecided_publish_times);
  if (found.ambiguous) {
    add(Finding::ambiguous_matches);
  } else if (found.publish == kNone) {
    add(Finding::unmatched_takes);
  }
  if (too_early) add(Finding::out_of_order_matches);
  if (found.publish != kNone && found.method == MatchMethod::inferred) {
    add(Finding::inferred_matches);
  }
  if (found.publish != kNone && found.method == MatchMethod::publish_time) {
    add(Finding::matches_by_publish_time);
  }
}

}  // namespace strata
