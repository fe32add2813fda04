// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/reads.hpp"

#include <algorithm>
#include <string>

#include "model/arrange.hpp"
#include "model/dds/writes.hpp"

namespace strata::dds {

void Reads::create_reader(const Event& event) {
  namespace f = field::create_reader;
  Interner& bytes = context_.strings.bytes;
  std::string guid;
  for (const int part : {f::gid_prefix, f::gid_entity}) {
    if (event[part] != kNone) guid += bytes[event[part]];
  }
  readers_.begin(event.process, event[f::reader], static_cast<int64_t>(made_.size()));
  made_.push_back({static_cast<int32_t>(samples_.guid(bytes.number(guid))), event.ns});
}

void Reads::take_begin(const Event& event) {
  Open& open = open_[event.thread];
  open.may_be_loan = false;
  open.begun = true;
  open.begin_ns = event.ns;
  open.deserialize_begun = open.deserialized = false;
}

void Reads::deserialize_begin(const Event& event) {
  Open& open = open_[event.thread];
  if (!open.begun || open.deserialize_begun) return;
  open.deserialize_begun = true;
  open.deserialize_begin_ns = event.ns;
}

void Reads::deserialize_end(const Event& event) {
  Open& open = open_[event.thread];
  if (!open.deserialize_begun || open.deserialized) return;
  open.deserialized = true;
  open.deserialize_end_ns = event.ns;
}

void Reads::take_end(const Event& event) {
  namespace f = field::take_end;
  Open& open = open_[event.thread];
  DdsTake& take = open.last;
  take = {};
  take.at = static_cast<int64_t>(event.at);
  if (open.begun) take.begin_ns = open.begin_ns;
  if (open.deserialized) {
    take.deserialize_begin_ns = open.deserialize_begin_ns;
    take.deserialize_end_ns = open.deserialize_end_ns;
  }
  take.buffer = event[f::buffer];
  take.stamp = event[f::source_timestamp];
  take.taken = event[f::taken];
  open.may_be_loan = take.taken > 0 && take.stamp > 0;
  take.sample =
      samples_.named(samples_.guid(event[f::writer_guid]), event[f::sequence_number], take.stamp);
  const int64_t made = readers_.find(event.process, event[f::reader]);
  if (made == kNone) return;
  take.reader = made_[static_cast<size_t>(made)].guid;
  take.made_ns = made_[static_cast<size_t>(made)].made_ns;
}

void Reads::rmw_take(const Event& event) {
  namespace f = field::rmw_take;
  const int64_t stamp = event[f::source_timestamp];
  const bool counts = event[f::taken] == 1 && stamp > 0;
  if (!makes_rows_) {
    // Nothing is open without hooks.
    if (counts) ++taken_;
    return;
  }
  Open& open = open_[event.thread];
  if (counts) {
    const DdsTake& last = open.last;
    const bool own = last.at != kNone && last.taken > 0 &&
                     is_same_message(last.stamp, stamp, last.buffer, event[f::message]);
    ++taken_;
    add(own ? last : DdsTake{});
  }
  open = {};
}

void Reads::work(const Event& event) {
  Open& open = open_[event.thread];
  if (!open.may_be_loan) return;
  open.may_be_loan = false;
  loans_.push_back(open.last);
}

void Reads::add(const DdsTake& take) {
  const auto row = static_cast<size_t>(rows_.add());
  rows_.begin_ns[row] = take.begin_ns;
  rows_.deserialize_begin_ns[row] = take.deserialize_begin_ns;
  rows_.deserialize_end_ns[row] = take.deserialize_end_ns;
  rows_.made_ns[row] = take.made_ns;
  rows_.sample[row] = take.sample;
  rows_.reader[row] = take.reader;
}

void Reads::make_rows() {
  if (makes_rows_) return;
  makes_rows_ = true;
  while (rows_.size() < taken_) rows_.add();
}

// Puts the rows of loaned messages between those of rmw_takes.
void Reads::add_loaned() {
  const TakesRows& takes = context_.rows.takes;
  std::ranges::sort(loans_, {}, &DdsTake::at);
  std::vector<size_t> order;
  order.reserve(takes.size());
  size_t next = 0;
  const size_t of_rmw = rows_.size();
  for (size_t row = 0; row < takes.size(); ++row) {
    if (takes.loaned[row] == 0) {
      order.push_back(next++);
      continue;
    }
    const auto loan = std::ranges::lower_bound(loans_, takes.at[row], {}, &DdsTake::at);
    const bool known = loan != loans_.end() && loan->at == takes.at[row];
    order.push_back(rows_.size());
    add(known ? *loan : DdsTake{});
  }
  if (rows_.size() > of_rmw) arrange(rows_, order);
}

uint32_t Reads::process_of(size_t row) const {
  const auto thread = static_cast<size_t>(context_.rows.takes.thread[row]);
  return static_cast<uint32_t>(context_.rows.threads.process[thread]);
}

void Reads::ask(SamplesByStamp& asked) {
  if (!makes_rows_) return;
  add_loaned();
  for (size_t row = 0; row < rows_.size(); ++row) {
    int32_t& sample = rows_.sample[row];
    sample = samples_.sample_of(sample);
    if (sample == kNoRow) asked.ask(process_of(row), context_.rows.takes.stamp[row]);
  }
}

void Reads::finish(const SamplesByStamp& received, const Wire& wire) {
  int64_t inferred = 0;
  for (size_t row = 0; row < rows_.size(); ++row) {
    const uint32_t process = process_of(row);
    int32_t& sample = rows_.sample[row];
    if (sample == kNoRow) sample = received.find(process, context_.rows.takes.stamp[row]);
    const Notice notice = wire.notice(process, sample, rows_.reader[row]);
    rows_.notified_ns[row] = notice.ns;
    rows_.notified_thread[row] = static_cast<int32_t>(notice.thread);
    rows_.added_ns[row] = notice.added_ns;
    rows_.unnumbered[row] = notice.unnumbered ? 1 : 0;
    inferred += notice.inferred ? 1 : 0;
  }
  context_.ledger.add(Finding::inferred_notifications, inferred);
}

}  // namespace strata::dds
