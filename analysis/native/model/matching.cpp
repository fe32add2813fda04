// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/matching.hpp"

namespace strata {
namespace {

constexpr int64_t kSeveral = -2;

}  // namespace

void Matching::index() {
  const auto& publishes = context_.rows.publishes;
  const Column<int32_t>& samples = context_.rows.writes.sample;
  last_with_.reserve(publishes.size());
  before_.assign(publishes.size(), kNone);
  publish_of_sample_.assign(context_.rows.samples.size(), kNone);
  for (size_t row = 0; row < publishes.size(); ++row) {
    if (publishes.of_application[row] == 0) continue;
    const auto number = static_cast<int64_t>(row);
    if (publishes.stamp[row] > 0) {
      const auto [known, fresh] = last_with_.try_emplace(publishes.stamp[row], number);
      if (!fresh) {
        before_[row] = known->second;
        known->second = number;
      }
    }
    const int64_t sample = samples.empty() ? kNone : samples[row];
    if (sample == kNone) continue;
    int64_t& only = publish_of_sample_[static_cast<size_t>(sample)];
    only = only == kNone ? number : kSeveral;
  }
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
  const auto known = last_with_.find(rows.takes.stamp[take]);
  if (known == last_with_.end()) return found;
  const int64_t topic = pick(rows.subscriptions.topic, rows.takes.subscription[take]);
  for (int64_t row = known->second; row != kNone; row = before_[static_cast<size_t>(row)]) {
    if (fits(static_cast<size_t>(row), topic)) found.candidates.push_back(row);
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
        rows.doubtful_takes.take[row] = static_cast<int64_t>(take);
        rows.doubtful_takes.publish[row] = publish;
      }
    }
    if (found.publish == kNone || too_early) continue;
    const auto row = static_cast<size_t>(rows.matches.add());
    rows.matches.publish[row] = found.publish;
    rows.matches.take[row] = static_cast<int64_t>(take);
    rows.matches.method[row] = static_cast<uint8_t>(found.method);
  }
  last_with_ = {};
  before_ = {};
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
