// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "layers/deliveries.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "layers/pairs.hpp"

namespace strata {
namespace {

constexpr uint8_t kOverwritten = 1, kDoubtful = 2;

// A publication of a pair's writer that the reader might have got; rows lie by pair and time.
struct Row {
  uint32_t publication;
  Fate fate;
  bool is_early;  // before the first that the reader took
};

// What holds for all rows of a pair.
struct PairRows {
  size_t number;
  size_t reader;
  int64_t ahead_ns;    // by how much the reader's clock is ahead of the writer's
  int64_t longest_ns;  // latency
  size_t begin;        // rows of it
  size_t end;
  int64_t last_taken_ns;
};

// A lost message whose reader's process may have been told of it.
struct Asked {
  int64_t sample;
  int64_t process;
  size_t row;
};

class Delivering {
 public:
  Delivering(const DeliveryPublications& publications, const DeliveryMessages& messages,
             const DeliveryReaders& readers, const DeliveryPairs& pairs, size_t hops,
             const DeliveryEvidence& evidence);

  DeliveryRows find();

 private:
  void number_messages();
  void number_evidence();
  void measure_hops(size_t hops);
  void add_pair(size_t number);
  void take_in(size_t number);
  void leave_out(size_t number);
  void add_rows(PairRows& pair);
  int64_t ahead_of(size_t number) const;
  int64_t taken_ns(uint32_t publication) const {
    const uint32_t message = message_of_[publication];
    return message == 0 ? kNone : messages_.taken_ns[message - 1];
  }
  void tell_fates(const PairRows& pair);
  Fate fate_of(const PairRows& pair, size_t row, int64_t following_ns);
  bool is_doubtful(const PairRows& pair, uint32_t publication, int64_t at_ns, int64_t due_ns) const;
  Fate on_the_way(const PairRows& pair, size_t row);
  void ask_who_was_told();
  DeliveryRows by_hop(size_t hops) const;
  int64_t at_ns(const PairRows& pair, uint32_t publication) const {
    return plus(publications_.handed_ns[publication], pair.ahead_ns);
  }

  const DeliveryPublications& publications_;
  const DeliveryMessages& messages_;
  const DeliveryReaders& readers_;
  const DeliveryPairs& pairs_;
  const DeliveryEvidence& evidence_;
  PairNumbers numbers_;
  RowsBy by_writer_;
  Many<int64_t> pair_of_;                                   // by message
  Many<int64_t> longest_ns_;                                // by hop
  std::vector<std::pair<uint32_t, uint32_t>> overwritten_;  // pair, publication; in order
  std::vector<std::pair<uint32_t, uint32_t>> doubtful_;
  std::vector<std::pair<int64_t, int64_t>> unmatched_;  // reader, ns; in order
  Many<uint32_t> message_of_;                           // by publication, for one pair: row + 1
  Many<uint8_t> marks_;                                 // by publication, for one pair
  std::vector<PairRows> found_;
  std::vector<Row> rows_;
  std::vector<Asked> asked_;
};

// The publications of one pair among those of all.
auto rows_of(const std::vector<std::pair<uint32_t, uint32_t>>& known, size_t pair) {
  constexpr auto first = &std::pair<uint32_t, uint32_t>::first;
  const auto number = static_cast<uint32_t>(pair);
  const auto begin = std::ranges::lower_bound(known, number, {}, first);
  const auto end = std::ranges::upper_bound(known, number, {}, first);
  return std::span(begin, end);
}

Delivering::Delivering(const DeliveryPublications& publications, const DeliveryMessages& messages,
                       const DeliveryReaders& readers, const DeliveryPairs& pairs, size_t hops,
                       const DeliveryEvidence& evidence)
    : publications_(publications),
      messages_(messages),
      readers_(readers),
      pairs_(pairs),
      evidence_(evidence),
      numbers_(pairs.writer, pairs.reader),
      by_writer_(publications.writer,
                 [&] {
                   const auto highest = std::ranges::max_element(publications.writer);
                   const bool is_none = highest == publications.writer.end() || *highest < 0;
                   return is_none ? size_t{0} : static_cast<size_t>(*highest) + 1;
                 }()),
      message_of_(publications.size()),
      marks_(publications.size()) {
  for (size_t pair = 0; pair < pairs.size(); ++pair) {
    if (is_row(pairs.reader[pair], readers.size()) && pairs.hop[pair] >= kNone &&
        pairs.hop[pair] < static_cast<int64_t>(hops)) {
      continue;
    }
    throw std::invalid_argument("pair " + std::to_string(pair) + " has reader " +
                                std::to_string(pairs.reader[pair]) + " and hop " +
                                std::to_string(pairs.hop[pair]));
  }
  number_messages();
  number_evidence();
  measure_hops(hops);
}

void Delivering::number_messages() {
  pair_of_.reserve(messages_.size());
  for (size_t message = 0; message < messages_.size(); ++message) {
    const int64_t publication = messages_.publication[message];
    const int64_t writer = pick(publications_.writer, publication);
    const int64_t pair = numbers_.of(writer, messages_.reader[message]);
    if (pair == kNone) throw std::invalid_argument("a message is of no pair");
    pair_of_.push_back(pair);
  }
}

void Delivering::number_evidence() {
  const auto add = [&](auto& to, int64_t publication, int64_t reader) {
    if (!is_row(publication, publications_.size()) || !is_row(reader, readers_.size())) return;
    const int64_t pair = numbers_.of(pick(publications_.writer, publication), reader);
    if (pair == kNone) return;
    to.emplace_back(static_cast<uint32_t>(pair), static_cast<uint32_t>(publication));
  };
  Many<int64_t> nameless;
  for (size_t reader = 0; reader < readers_.size(); ++reader) {
    if (readers_.entity[reader] == kNone) nameless.push_back(static_cast<int64_t>(reader));
  }
  const Known& overwritten = evidence_.overwritten;
  for (size_t row = 0; row < overwritten.size(); ++row) {
    // Readers that are known come first, in the order of their entities.
    const int64_t entity = overwritten.second[row];
    if (entity != kNone && pick(readers_.entity, entity) == entity) {
      add(overwritten_, overwritten.first[row], entity);
    }
    if (entity != kNone) continue;
    for (const int64_t reader : nameless) add(overwritten_, overwritten.first[row], reader);
  }
  const Known& doubtful = evidence_.doubtful;
  for (size_t row = 0; row < doubtful.size(); ++row) {
    add(doubtful_, doubtful.first[row], doubtful.second[row]);
  }
  const Known& unmatched = evidence_.unmatched;
  for (size_t row = 0; row < unmatched.size(); ++row) {
    unmatched_.emplace_back(unmatched.first[row], unmatched.second[row]);
  }
  std::ranges::sort(overwritten_);
  std::ranges::sort(doubtful_);
  std::ranges::sort(unmatched_);
}

// The longest latency of each hop; of one without any, of all hops.
void Delivering::measure_hops(size_t hops) {
  longest_ns_.assign(hops, kNone);
  int64_t longest_ns = 0;
  for (size_t message = 0; message < messages_.size(); ++message) {
    const int64_t ns = messages_.latency_ns[message];
    longest_ns = std::max(longest_ns, ns);
    if (!is_row(messages_.hop[message], hops)) continue;
    int64_t& own = longest_ns_[static_cast<size_t>(messages_.hop[message])];
    own = std::max(own, ns);
  }
  std::ranges::replace(longest_ns_, kNone, longest_ns);
}

// Notes of each publication which message of the pair it became, and what is known of it.
void Delivering::leave_out(size_t number) {
  for (const auto& [pair, publication] : rows_of(overwritten_, number)) marks_[publication] = 0;
  for (const auto& [pair, publication] : rows_of(doubtful_, number)) marks_[publication] = 0;
}

void Delivering::take_in(size_t number) {
  for (const auto& [pair, publication] : rows_of(overwritten_, number)) {
    marks_[publication] |= kOverwritten;
  }
  for (const auto& [pair, publication] : rows_of(doubtful_, number)) {
    marks_[publication] |= kDoubtful;
  }
}

// Messages between two clocks: they are taken to differ by the least that lies between a publish
// and its take.
int64_t Delivering::ahead_of(size_t number) const {
  if (pairs_.is_apart[number] == 0) return 0;
  constexpr int64_t kNoneTaken = std::numeric_limits<int64_t>::max();
  int64_t least_ns = kNoneTaken;
  for (const uint32_t publication : by_writer_.of(pairs_.writer[number])) {
    const int64_t taken = taken_ns(publication);
    if (taken == kNone) continue;
    least_ns = std::min(least_ns, minus(taken, publications_.handed_ns[publication]));
  }
  return least_ns == kNoneTaken ? 0 : least_ns;
}

void Delivering::add_rows(PairRows& pair) {
  const bool is_within = pairs_.is_within[pair.number] != 0;
  const int64_t until_ns = readers_.until_ns[pair.reader];
  pair.begin = rows_.size();
  for (const uint32_t publication : by_writer_.of(pairs_.writer[pair.number])) {
    // What stayed in its process was never for a reader elsewhere.
    const bool is_sent = publications_.rmw_publish_ns[publication] != kNone || is_within;
    const bool is_there = is_sent && at_ns(pair, publication) < until_ns;
    const int64_t taken = taken_ns(publication);
    if (!is_there && taken == kNone) continue;
    rows_.push_back({publication, Fate::went_silent, false});
    if (taken != kNone) pair.last_taken_ns = taken;
  }
  pair.end = rows_.size();
}

void Delivering::tell_fates(const PairRows& pair) {
  int64_t following_ns = kNone;
  int64_t first_ns = std::numeric_limits<int64_t>::min();
  for (size_t row = pair.end; row-- > pair.begin;) {
    Row& own = rows_[row];
    const int64_t taken = taken_ns(own.publication);
    own.fate = taken != kNone ? Fate::received : fate_of(pair, row, following_ns);
    if (taken == kNone) continue;
    following_ns = taken;
    first_ns = at_ns(pair, own.publication);
  }
  for (size_t row = pair.begin; row < pair.end; ++row) {
    if (at_ns(pair, rows_[row].publication) >= first_ns) break;
    rows_[row].is_early = true;
  }
}

bool Delivering::is_doubtful(const PairRows& pair, uint32_t publication, int64_t at_ns,
                             int64_t due_ns) const {
  if ((marks_[publication] & kDoubtful) != 0) return true;
  // One without a stamp may be of any such take from its publish to when it would be taken.
  if (publications_.rmw_publish_ns[publication] == kNone ||
      publications_.stamp[publication] != kNone) {
    return false;
  }
  const auto reader = static_cast<int64_t>(pair.reader);
  const auto until = std::ranges::upper_bound(unmatched_, std::pair(reader, due_ns));
  const auto from = std::ranges::lower_bound(unmatched_, std::pair(reader, at_ns));
  return until > from;
}

Fate Delivering::fate_of(const PairRows& pair, size_t row, int64_t following_ns) {
  const uint32_t publication = rows_[row].publication;
  const int64_t published_ns = at_ns(pair, publication);
  const bool is_later = following_ns != kNone;
  const int64_t by_ns = plus(published_ns, pair.longest_ns);
  const int64_t due_ns = is_later ? following_ns : by_ns;
  if ((marks_[publication] & kOverwritten) != 0) return Fate::overwritten;
  if (is_doubtful(pair, publication, published_ns, due_ns)) return Fate::ambiguous_take;
  if (evidence_.losses.touch(published_ns, due_ns)) return Fate::tracer_lost_events;
  if (is_later) return on_the_way(pair, row);
  const int64_t end_ns = readers_.traffic_end_ns[pair.reader];
  const int64_t process_ns = readers_.process_last_ns[pair.reader];
  if (pair.last_taken_ns == kNone) return Fate::never_took;
  if (minus(end_ns, published_ns) <= pair.longest_ns) return Fate::in_flight;
  if (process_ns < by_ns && minus(end_ns, process_ns) > pair.longest_ns) {
    return Fate::process_ended;
  }
  return Fate::went_silent;
}

// What the middleware tells of a message that is missing between others.
Fate Delivering::on_the_way(const PairRows& pair, size_t row) {
  const int64_t sample = pick(publications_.sample, rows_[row].publication);
  if (sample == kNone || readers_.is_told[pair.reader] == 0) return Fate::lost_or_overwritten;
  asked_.push_back({sample, readers_.process[pair.reader], row});
  return Fate::lost_on_the_way;
}

// Where the reader's process was told of the sample, its queue lost it.
void Delivering::ask_who_was_told() {
  if (asked_.empty()) return;
  const auto key = [](const Asked& one) { return std::tie(one.sample, one.process); };
  std::ranges::sort(asked_, {}, key);
  Many<uint8_t> is_asked(static_cast<size_t>(asked_.back().sample) + 1, 0);
  for (const Asked& one : asked_) is_asked[static_cast<size_t>(one.sample)] = 1;
  const Known& told = evidence_.told;
  for (size_t at = 0; at < told.size(); ++at) {
    const int64_t sample = told.first[at], process = told.second[at];
    if (!is_row(sample, is_asked.size()) || is_asked[static_cast<size_t>(sample)] == 0) continue;
    const auto wanted = std::tie(sample, process);
    const auto end = std::ranges::upper_bound(asked_, wanted, {}, key);
    for (auto one = std::ranges::lower_bound(asked_, wanted, {}, key); one != end; ++one) {
      rows_[one->row].fate = Fate::overwritten;
    }
  }
}

void Delivering::add_pair(size_t number) {
  take_in(number);
  const auto reader = static_cast<size_t>(pairs_.reader[number]);
  const int64_t longest_ns = pick(Ints(longest_ns_), pairs_.hop[number]);
  PairRows pair{number, reader, ahead_of(number), longest_ns, 0, 0, kNone};
  add_rows(pair);
  tell_fates(pair);
  found_.push_back(pair);
  leave_out(number);
}

DeliveryRows Delivering::by_hop(size_t hops) const {
  DeliveryRows out;
  out.before_first.assign(hops, 0);
  const RowsBy pairs(pairs_.hop, hops);
  std::vector<std::tuple<int64_t, size_t, size_t>> kept;  // published, pair, row
  for (size_t hop = 0; hop < hops; ++hop) {
    kept.clear();
    for (const uint32_t number : pairs.of(static_cast<int64_t>(hop))) {
      const PairRows& pair = found_[number];
      for (size_t row = pair.begin; row < pair.end; ++row) {
        const int64_t ns = at_ns(pair, rows_[row].publication);
        const bool is_alive = ns >= readers_.begin_ns[pair.reader];
        // What reached the reader's queue was for it, also before its first take.
        const bool is_early = rows_[row].is_early && rows_[row].fate != Fate::overwritten;
        if (is_alive && is_early) ++out.before_first[hop];
        const bool is_received = rows_[row].fate == Fate::received;
        if (is_received || (is_alive && !is_early)) kept.emplace_back(ns, number, row);
      }
    }
    // Those of one instant are by pair.
    if (!std::ranges::is_sorted(kept)) std::ranges::sort(kept);
    for (const auto& [ns, number, row] : kept) {
      const PairRows& pair = found_[number];
      const Fate fate = rows_[row].fate;
      out.hop.push_back(static_cast<int64_t>(hop));
      out.publication.push_back(rows_[row].publication);
      out.fate.push_back(static_cast<uint8_t>(fate));
      out.published_ns.push_back(ns);
      out.since_ns.push_back(fate == Fate::went_silent     ? pair.last_taken_ns
                             : fate == Fate::process_ended ? readers_.process_last_ns[pair.reader]
                                                           : kNone);
    }
  }
  return out;
}

DeliveryRows Delivering::find() {
  const auto handed_ns = [&](uint32_t row) { return publications_.handed_ns[row]; };
  for (const int64_t writer : pairs_.writer) {
    const std::span<uint32_t> rows = by_writer_.of(writer);
    if (!std::ranges::is_sorted(rows, {}, handed_ns)) std::ranges::stable_sort(rows, {}, handed_ns);
  }
  const RowsBy messages(pair_of_, pairs_.size());
  for (size_t number = 0; number < pairs_.size(); ++number) {
    const auto own = messages.of(static_cast<int64_t>(number));
    for (const uint32_t message : own) {
      // The first take of several.
      uint32_t& of = message_of_[static_cast<size_t>(messages_.publication[message])];
      const bool is_first = of == 0 || messages_.taken_ns[message] < messages_.taken_ns[of - 1];
      if (is_first) of = message + 1;
    }
    add_pair(number);
    for (const uint32_t message : own) {
      message_of_[static_cast<size_t>(messages_.publication[message])] = 0;
    }
  }
  ask_who_was_told();
  return by_hop(longest_ns_.size());
}

}  // namespace

DeliveryRows find_deliveries(const DeliveryPublications& publications,
                             const DeliveryMessages& messages, const DeliveryReaders& readers,
                             const DeliveryPairs& pairs, size_t hops,
                             const DeliveryEvidence& evidence) {
  require_one_length({{publications.writer, publications.handed_ns, publications.rmw_publish_ns,
                       publications.stamp}});
  require_one_length({{messages.publication, messages.reader, messages.hop, messages.taken_ns,
                       messages.latency_ns}});
  require_one_length({{readers.entity, readers.process, readers.begin_ns, readers.until_ns,
                       readers.process_last_ns, readers.traffic_end_ns}});
  require_one_length({{pairs.writer, pairs.reader, pairs.hop}});
  for (const Known& known :
       {evidence.overwritten, evidence.doubtful, evidence.unmatched, evidence.told}) {
    require_one_length({{known.first, known.second}});
  }
  if (readers.is_told.size() != readers.size() || pairs.is_within.size() != pairs.size() ||
      pairs.is_apart.size() != pairs.size()) {
    throw std::invalid_argument("readers or pairs have flags of another number of rows");
  }
  return Delivering(publications, messages, readers, pairs, hops, evidence).find();
}

}  // namespace strata
