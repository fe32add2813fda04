// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/reads.hpp"

#include <string>

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
  take.end_ns = event.ns;
  take.thread = event.thread;
  if (open.begun) take.begin_ns = open.begin_ns;
  if (open.deserialized) {
    take.deserialize_begin_ns = open.deserialize_begin_ns;
    take.deserialize_end_ns = open.deserialize_end_ns;
  }
  take.buffer = event[f::buffer];
  take.stamp = event[f::source_timestamp];
  take.taken = event[f::taken];
  take.sample =
      samples_.named(samples_.guid(event[f::writer_guid]), event[f::sequence_number], take.stamp);
  const int64_t made = readers_.find(event.process, event[f::reader]);
  if (made == kNone) return;
  take.reader = made_[static_cast<size_t>(made)].guid;
  take.made_ns = made_[static_cast<size_t>(made)].made_ns;
}

void Reads::rmw_take(const Event& event) {
  namespace f = field::rmw_take;
  Open& open = open_[event.thread];
  const int64_t stamp = event[f::source_timestamp];
  if (event[f::taken] == 1 && stamp > 0) {
    const DdsTake& last = open.last;
    const bool own = last.at != kNone && last.taken > 0 &&
                     is_same_message(last.stamp, stamp, last.buffer, event[f::message]);
    add(own ? last : DdsTake{}, event.thread, stamp);
  }
  open = {};
}

int64_t Reads::add(const DdsTake& take, uint32_t thread, int64_t stamp) {
  const uint32_t row = taken_++;
  if (take.sample == kNoRow || samples_.is_unnumbered(take.sample)) {
    unnamed_.push_back({stamp, row, thread});
  }
  if (!makes_rows_) return row;
  rows_.add();
  rows_.begin_ns[row] = take.begin_ns;
  rows_.deserialize_begin_ns[row] = take.deserialize_begin_ns;
  rows_.deserialize_end_ns[row] = take.deserialize_end_ns;
  rows_.made_ns[row] = take.made_ns;
  rows_.sample[row] = take.sample;
  rows_.reader[row] = take.reader;
  rows_.thread[row] = static_cast<int32_t>(thread);
  return row;
}

void Reads::make_rows() {
  if (makes_rows_) return;
  makes_rows_ = true;
  while (rows_.size() < taken_) rows_.add();
  // None of these has a name.
  for (const Unnamed& one : unnamed_) rows_.thread[one.row] = static_cast<int32_t>(one.thread);
}

void Reads::ask(SamplesByStamp& asked) const {
  if (!makes_rows_) return;
  for (const Unnamed& one : unnamed_) asked.ask(process_of(one.thread), one.stamp);
}

void Reads::finish(const SamplesByStamp& received, const Wire& wire) {
  if (!makes_rows_) return;
  for (const Unnamed& one : unnamed_) {
    int32_t& sample = rows_.sample[one.row];
    sample = samples_.sample_of(sample);
    if (sample == kNoRow) sample = received.find(process_of(one.thread), one.stamp);
  }
  int64_t inferred = 0;
  for (size_t row = 0; row < rows_.size(); ++row) {
    const uint32_t process = process_of(static_cast<uint32_t>(rows_.thread[row]));
    const Notice notice = wire.notice(process, rows_.sample[row], rows_.reader[row]);
    rows_.notified_ns[row] = notice.ns;
    rows_.notified_thread[row] = static_cast<int32_t>(notice.thread);
    rows_.added_ns[row] = notice.added_ns;
    rows_.unnumbered[row] = notice.unnumbered ? 1 : 0;
    inferred += notice.inferred ? 1 : 0;
  }
  context_.ledger.add(Finding::inferred_notifications, inferred);
}

}  // namespace strata::dds
