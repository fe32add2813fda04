// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/inference.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "model/differences.hpp"

namespace strata {
namespace {

// Of the messages of a bin that are taken on their publisher's host, one at least is as fast.
constexpr int64_t kFastestNs = 20'000'000;
// How far the clock may be set back within a bin without being lost.
constexpr int64_t kBackNs = 5'000'000;
constexpr int64_t kWithinNs = kFastestNs + kBackNs;
// No stamp is later after its rmw_publish.
constexpr int64_t kLongestNs = 20'000'000;
// Pairs of a stamp and a publication that are in memory at once, where 50 stamps have fewer.
constexpr size_t kTogether = size_t{1} << 16U;
constexpr int64_t kMarginNs = 5'000;
// How many times the usual time a stamp may be after rmw_publish, and what is added.
constexpr double kUsual = 8;
constexpr int64_t kUsualNs = 50'000;

int64_t middle(int64_t a, int64_t b) { return plus(a, b) >> 1U; }

}  // namespace

void Inference::add_candidate(const Candidate& candidate) { candidates_.push_back(candidate); }

void Inference::add_stamped(const Stamped& stamped) { stamped_.push_back(stamped); }

void Inference::add_take(const Take& take) { takes_.push_back(take); }

void Inference::decide(std::vector<int32_t>& publish, std::vector<bool>& ambiguous) {
  bound_candidates();
  std::ranges::stable_sort(stamped_, {}, &Stamped::stamp);
  find_questions();
  std::set<int64_t> hosts;
  for (const Candidate& candidate : candidates_) hosts.insert(candidate.host);
  for (const int64_t host : hosts) answer(host);

  struct Claims {
    int32_t all = 0;
    int32_t sure = 0;
  };
  std::vector<int32_t> count(questions_.size(), 0);
  std::unordered_map<int32_t, Claims> claims;  // by publish
  for (const Fit& fit : fits_) ++count[static_cast<size_t>(fit.question)];
  for (const Fit& fit : fits_) {
    if (count[static_cast<size_t>(fit.question)] != 1) continue;
    Claims& own = claims[fit.row];
    ++own.all;
    own.sure += fit.sure ? 1 : 0;
  }
  std::vector<int32_t> answers(questions_.size(), -1);
  std::vector<bool> undecided(questions_.size(), false);
  for (const Fit& fit : fits_) {
    const auto question = static_cast<size_t>(fit.question);
    if (count[question] != 1) {
      undecided[question] = true;
      continue;
    }
    const Claims& own = claims[fit.row];
    const bool holds = own.all == 1 || (fit.sure && own.sure == 1);
    if (holds) answers[question] = fit.row;
    undecided[question] = !holds;
  }
  publish.assign(takes_.size(), -1);
  ambiguous.assign(takes_.size(), false);
  for (size_t take = 0; take < takes_.size(); ++take) {
    if (of_take_[take] == -1) continue;
    const auto question = static_cast<size_t>(of_take_[take]);
    publish[take] = answers[question];
    ambiguous[take] = undecided[question];
  }
}

// Until when each may have got its stamp.
void Inference::bound_candidates() {
  std::unordered_map<int64_t, size_t> last;  // by publisher
  for (size_t row = 0; row < candidates_.size(); ++row) {
    Candidate& own = candidates_[row];
    const int64_t longest = plus(own.publish_ns, kLongestNs);
    own.until_ns = own.until_ns == kNone ? longest : std::min(own.until_ns, longest);
    const auto [known, fresh] = last.try_emplace(own.publisher, row);
    if (fresh) continue;
    Candidate& before = candidates_[known->second];
    const int64_t half = minus(own.publish_ns, before.publish_ns) / 2;
    before.until_ns = std::min(before.until_ns, plus(before.publish_ns, half));
    known->second = row;
  }
}

void Inference::find_questions() {
  std::unordered_set<int64_t> topics;
  for (const Candidate& candidate : candidates_) topics.insert(candidate.topic);
  std::vector<size_t> asked;
  for (size_t take = 0; take < takes_.size(); ++take) {
    const Take& own = takes_[take];
    if (topics.contains(own.topic) &&
        !std::ranges::binary_search(stamped_, own.stamp, {}, &Stamped::stamp)) {
      asked.push_back(take);
    }
  }
  // Takes of one question come together, those before others that were taken first.
  std::ranges::stable_sort(asked, {}, [&](size_t take) {
    return std::make_pair(takes_[take].stamp, takes_[take].topic);
  });
  of_take_.assign(takes_.size(), -1);
  for (const size_t take : asked) {
    const Take& own = takes_[take];
    if (questions_.empty() || questions_.back().stamp != own.stamp ||
        questions_.back().topic != own.topic) {
      questions_.push_back({own.topic, own.stamp, take, {}});
    }
    of_take_[take] = static_cast<int32_t>(questions_.size() - 1);
    auto& fastest = questions_.back().fastest;
    const int64_t age = minus(own.stamp, own.ns);
    const auto same = std::ranges::find(fastest, own.host, &std::pair<int64_t, int64_t>::first);
    if (same == fastest.end()) {
      fastest.emplace_back(own.host, age);
    } else {
      same->second = std::max(same->second, age);
    }
  }
}

void Inference::answer(int64_t host) {
  own_.clear();
  own_topics_.clear();
  for (const Candidate& candidate : candidates_) {
    if (candidate.host != host) continue;
    own_.push_back(candidate);
    own_topics_.insert(candidate.topic);
  }
  std::ranges::stable_sort(own_, {}, [](const Candidate& candidate) {
    return std::make_pair(candidate.topic, candidate.publish_ns);
  });
  std::vector<int32_t> asked;
  const Offset offset = find_offset(asked_here(host), host, asked);
  if (offset.empty()) return;
  std::vector<Fit> fits = fitting(offset);
  keep_answering(fits, asked);
  fits_.insert(fits_.end(), fits.begin(), fits.end());
}

// Questions of topics that are published on a host alone, in order of their stamps; of equal ones
// in order of their first takes.
std::vector<size_t> Inference::asked_here(int64_t host) const {
  std::unordered_set<int64_t> foreign;
  for (const Candidate& candidate : candidates_) {
    if (candidate.host != host) foreign.insert(candidate.topic);
  }
  std::vector<size_t> rows;
  for (size_t row = 0; row < questions_.size(); ++row) {
    const int64_t topic = questions_[row].topic;
    if (own_topics_.contains(topic) && !foreign.contains(topic)) rows.push_back(row);
  }
  std::ranges::sort(rows, {}, [&](size_t row) {
    return std::make_pair(questions_[row].stamp, questions_[row].first_take);
  });
  return rows;
}

// The least offset near each question: no message is taken before it is stamped.
//
// Of takes on the publisher's host; where a bin has none, of all hosts, whose clocks may differ by
// as much as the fastest message takes.
std::vector<int64_t> Inference::least_offsets(const std::vector<size_t>& rows, int64_t host) const {
  std::vector<int64_t> least(rows.size());
  for (size_t begin = 0; begin < rows.size(); begin += kBin) {
    const size_t end = std::min(begin + kBin, rows.size());
    int64_t own = INT64_MIN, of_any = INT64_MIN;
    for (size_t i = begin; i < end; ++i) {
      for (const auto& [taker, age] : questions_[rows[i]].fastest) {
        if (taker == host) own = std::max(own, age);
        of_any = std::max(of_any, minus(age, kFastestNs));
      }
    }
    const int64_t lasts = minus(questions_[rows[end - 1]].stamp, questions_[rows[begin]].stamp);
    const int64_t best = own != INT64_MIN ? own : of_any;
    for (size_t i = begin; i < end; ++i) least[i] = minus(minus(best, slewed(lasts)), kBackNs);
  }
  return least;
}

// Candidates of topics whose stamps may lie in ranges.
Inference::Reach Inference::reach(int64_t topic, int64_t least, int64_t most) const {
  const auto key = [](const Candidate& own) { return std::make_pair(own.topic, own.publish_ns); };
  const auto first =
      std::ranges::lower_bound(own_, std::make_pair(topic, minus(least, kLongestNs)), {}, key);
  const auto last = std::ranges::upper_bound(own_, std::make_pair(topic, most), {}, key);
  return {static_cast<size_t>(first - own_.begin()),
          last > first ? static_cast<size_t>(last - first) : 0};
}

// Where parts of whole bins begin that have few pairs each, and the end of the last.
std::vector<size_t> Inference::parts(const std::vector<size_t>& rows,
                                     const std::vector<Reach>& reached) const {
  std::vector<size_t> begins{0};
  size_t pairs = 0, part = 0;
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin;
    while (end < rows.size() && bin_of(end, rows.size()) == bin_of(begin, rows.size())) {
      pairs += reached[end++].count;
    }
    if (begin > 0 && pairs / kTogether != part) begins.push_back(begin);
    part = pairs / kTogether;
    begin = end;
  }
  begins.push_back(rows.size());
  return begins;
}

// Publications that a question's stamp may be of, for any offset from the least to the slowest.
void Inference::add_pairs(size_t row, const Reach& reached, int64_t least,
                          std::vector<Pair>& pairs) const {
  const Question& question = questions_[row];
  for (size_t place = reached.first; place < reached.first + reached.count; ++place) {
    const Candidate& own = own_[place];
    const int64_t low = minus(question.stamp, own.until_ns);
    const int64_t high = minus(question.stamp, own.publish_ns);
    if (high < least || low > plus(least, kWithinNs)) continue;
    pairs.push_back({static_cast<int64_t>(row), question.topic, question.stamp, own.publish_ns, low,
                     high, false});
  }
}

// Publications of a host that tell their stamp, of stamps from one up to another. Such a stamp was
// taken before its rmw_publish and after the thread's event before that.
void Inference::add_sure(int64_t host, int64_t from, int64_t until,
                         std::vector<Pair>& pairs) const {
  auto own = std::ranges::lower_bound(stamped_, from, {}, &Stamped::stamp);
  for (; own != stamped_.end() && own->stamp <= until; ++own) {
    if (own->host != host || own->previous_ns == kNone) continue;
    pairs.push_back({-1 - (own - stamped_.begin()), kNone, own->stamp, own->publish_ns,
                     minus(own->stamp, own->publish_ns), minus(own->stamp, own->previous_ns),
                     true});
  }
}

// The offset of a host's clocks; `asked` gets the questions that only its publications may answer.
Offset Inference::find_offset(const std::vector<size_t>& rows, int64_t host,
                              std::vector<int32_t>& asked) const {
  const std::vector<int64_t> least = least_offsets(rows, host);
  const auto stamp_at = [&](size_t i) { return questions_[rows[i]].stamp; };
  std::vector<Reach> reached;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t most = minus(stamp_at(i), least[i]);
    reached.push_back(reach(questions_[rows[i]].topic, minus(most, kWithinNs), most));
  }
  const std::vector<size_t> begins = parts(rows, reached);
  Offset offset;
  std::vector<Pair> pairs;
  for (size_t part = 0; part + 1 < begins.size(); ++part) {
    const size_t begin = begins[part], end = begins[part + 1];
    pairs.clear();
    for (size_t i = begin; i < end; ++i) {
      const size_t had = pairs.size();
      add_pairs(rows[i], reached[i], least[i], pairs);
      if (pairs.size() > had) asked.push_back(static_cast<int32_t>(rows[i]));
    }
    add_sure(host, begin > 0 ? stamp_at(begin) : INT64_MIN,
             end < rows.size() ? stamp_at(end) - 1 : INT64_MAX, pairs);
    calibrate(pairs, kWithinNs, offset);
  }
  return offset;
}

// Which publications fit which questions, and whether they do for every possible offset.
std::vector<Inference::Fit> Inference::fitting(const Offset& offset) const {
  struct Range {
    int64_t earliest;
    int64_t latest;
  };
  struct Found {
    int32_t question;
    size_t place;
    Range range;
  };
  std::vector<Found> found;
  std::unordered_map<int64_t, std::vector<double>> taken;  // by publisher: after rmw_publish
  for (size_t row = 0; row < questions_.size(); ++row) {
    const Question& question = questions_[row];
    if (!own_topics_.contains(question.topic)) continue;
    const auto [low, high] = offset.at(question.stamp);
    const Range range{minus(minus(question.stamp, high), kMarginNs),
                      plus(minus(question.stamp, low), kMarginNs)};
    const Reach own = reach(question.topic, range.earliest, range.latest);
    for (size_t place = own.first; place < own.first + own.count; ++place) {
      const Candidate& candidate = own_[place];
      if (candidate.publish_ns > range.latest || candidate.until_ns < range.earliest) continue;
      found.push_back({static_cast<int32_t>(row), place, range});
      const int64_t after = minus(middle(range.earliest, range.latest), candidate.publish_ns);
      taken[candidate.publisher].push_back(static_cast<double>(std::max<int64_t>(after, 0)));
    }
  }
  std::unordered_map<int64_t, int64_t> usual;
  for (auto& [publisher, after] : taken) {
    usual[publisher] = plus(kUsualNs, whole(kUsual * median(after)));
  }
  std::vector<Fit> fits;
  for (const Found& one : found) {
    const Candidate& own = own_[one.place];
    const int64_t until =
        std::min(own.until_ns, plus(own.publish_ns, usual.find(own.publisher)->second));
    if (until < one.range.earliest) continue;
    const bool sure = minus(own.publish_ns, kMarginNs) <= one.range.earliest &&
                      plus(until, kMarginNs) >= one.range.latest;
    fits.push_back({one.question, own.row, sure});
  }
  return fits;
}

// Leaves out what fits at times at which most of the questions asked have no answer. They are in
// order of stamp. Without any the offset is known from publications with stamps.
void Inference::keep_answering(std::vector<Fit>& fits, const std::vector<int32_t>& asked) const {
  if (asked.empty()) return;
  std::vector<bool> is_answered(questions_.size(), false);
  for (const Fit& fit : fits) is_answered[static_cast<size_t>(fit.question)] = true;
  std::vector<size_t> all, answered;
  for (size_t i = 0; i < asked.size(); ++i) {
    const size_t bin = bin_of(i, asked.size());
    if (bin >= all.size()) {
      all.resize(bin + 1, 0);
      answered.resize(bin + 1, 0);
    }
    ++all[bin];
    answered[bin] += is_answered[static_cast<size_t>(asked[i])] ? 1 : 0;
  }
  const auto stamp_of = [&](int32_t question) {
    return questions_[static_cast<size_t>(question)].stamp;
  };
  std::erase_if(fits, [&](const Fit& fit) {
    const auto place = static_cast<size_t>(
        std::ranges::lower_bound(asked, stamp_of(fit.question), {}, stamp_of) - asked.begin());
    const size_t bin = bin_of(std::min(place, asked.size() - 1), asked.size());
    return 2 * answered[bin] < all[bin];
  });
}

}  // namespace strata
