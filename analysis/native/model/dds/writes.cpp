// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/writes.hpp"

namespace strata::dds {

void Writes::publish(const Event& event) {
  namespace f = field::rmw_publish;
  Open& open = open_[event.thread];
  close(open);
  open = {};
  open.row = published_++;
  if (makes_rows_) rows_.add();
  open.process = event.process;
  open.publish_ns = event.ns;
  open.stamp = event[f::source_timestamp];
  open.message = event[f::message];
}

void Writes::make_rows() {
  if (makes_rows_) return;
  makes_rows_ = true;
  while (rows_.size() < published_) rows_.add();
}

void Writes::write_begin(const Event& event) {
  Open& open = open_[event.thread];
  if (open.row == kNone || open.begun) return;
  open.begun = true;
  open.data = event[field::write_begin::data];
}

void Writes::serialize_begin(const Event& event) {
  if (event.process >= hooked_.size()) hooked_.resize(event.process + size_t{1}, false);
  hooked_[event.process] = true;
  Open& open = open_[event.thread];
  if (open.row == kNone || !open.begun || open.serialize_begun) return;
  open.serialize_begun = true;
  open.serialize_begin_ns = event.ns;
}

void Writes::serialize_end(const Event& event) {
  Open& open = open_[event.thread];
  if (open.row == kNone || !open.serialize_begun || open.serialized) return;
  open.serialized = true;
  open.serialize_end_ns = event.ns;
  open.size = event[field::serialize_end::size];
}

void Writes::writer_history_add(const Event& event) {
  namespace f = field::writer_history_add;
  const int32_t sample = samples_.named(samples_.guid(event[f::writer_guid]),
                                        event[f::sequence_number], event[f::source_timestamp]);
  Open& open = open_[event.thread];
  if (open.row == kNone || !open.begun || open.added) return;
  open.added = true;
  open.added_ns = event.ns;
  open.added_stamp = event[f::source_timestamp];
  open.added_size = event[f::size];
  open.sample = sample;
}

void Writes::write_end(const Event& event) {
  Open& open = open_[event.thread];
  if (open.row == kNone || !open.begun) return;
  open.end_ns = event.ns;
  close(open);
}

// A write that threw, or whose end was lost, is bounded by the next rmw_publish.
void Writes::close(Open& open) {
  if (open.row == kNone) return;
  const auto row = static_cast<size_t>(open.row);
  const bool own =
      open.begun && is_same_message(open.added_stamp, open.stamp, open.data, open.message);
  if (own) {
    if (open.serialized) {
      rows_.serialize_begin_ns[row] = open.serialize_begin_ns;
      rows_.serialize_end_ns[row] = open.serialize_end_ns;
    }
    const int64_t size = open.size > 0 ? open.size : open.added_size;
    if (size > 0) rows_.size_bytes[row] = size;
    rows_.end_ns[row] = open.end_ns;
    rows_.sample[row] = open.sample;
    const bool lent = open.added && !open.serialize_begun &&
                      !context_.settings.losses.touch(open.publish_ns, open.added_ns);
    if (lent) lent_.push_back({open.row, open.process});
  }
  open.row = kNone;
}

void Writes::close() {
  for (uint32_t thread = 0; thread < open_.size(); ++thread) close(open_.at(thread));
}

uint32_t Writes::process_of(size_t row) const {
  const auto thread = static_cast<size_t>(context_.rows.publishes.thread[row]);
  return static_cast<uint32_t>(context_.rows.threads.process[thread]);
}

void Writes::ask(SamplesByStamp& asked) {
  for (size_t row = 0; row < rows_.size(); ++row) {
    int32_t& sample = rows_.sample[row];
    sample = samples_.sample_of(sample);
    if (sample == kNoRow) asked.ask(process_of(row), context_.rows.publishes.stamp[row]);
  }
}

void Writes::finish(const SamplesByStamp& sent) {
  for (size_t row = 0; row < rows_.size(); ++row) {
    int32_t& sample = rows_.sample[row];
    if (sample == kNoRow) sample = sent.find(process_of(row), context_.rows.publishes.stamp[row]);
  }
  for (const Lent& one : lent_) {
    const bool hooked = one.process < hooked_.size() && hooked_[one.process];
    rows_.lent[static_cast<size_t>(one.row)] = hooked ? 1 : 0;
  }
}

}  // namespace strata::dds
