// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/buffers.hpp"

namespace strata::dds {
namespace {

// Further samples of a buffer are emitted right after the first: later ones lost their buffer's
// event.
constexpr int64_t kFurtherWithinNs = 1'000'000;

// A DATA_FRAG has 64 KiB at most and fragments are of 1 KiB or more: what counts more than this was
// not sent so by any DDS. Each fragment is looked at, so a wrong count must not cost much.
constexpr int64_t kMostFragments = 256;

// Their numbers are of 32 bits, as those of rows are.
template <typename Row>
void add(Column<Row>& rows, const char* what, const Row& row) {
  if (rows.size() == kMostRows) [[unlikely]]
    refuse_row(what);
  rows.push_back(row);
}

bool is_within(int64_t since_ns, int64_t at_ns) {
  const int64_t elapsed = elapsed_ns(since_ns, at_ns);
  return elapsed >= 0 && elapsed <= kFurtherWithinNs;
}

}  // namespace

Buffers::Fragments Buffers::fragments_of(int64_t first, int64_t count) {
  if (count > kMostFragments || first != narrow(first)) {
    ledger_.add(Finding::impossible_fragments);
  }
  // A whole sample counts as one.
  return {narrow(first), static_cast<uint16_t>(std::clamp<int64_t>(count, 1, kMostFragments))};
}

void Buffers::send_begin(const Event& event) {
  namespace f = field::send_begin;
  Last& last = last_[event.thread];
  const auto call = static_cast<uint32_t>(calls.size());
  const auto own_place = static_cast<int32_t>(-2 - int64_t{call});
  add(calls, "send calls",
      {.ns = event.ns,
       .thread = event.thread,
       .bytes = narrow(event[f::bytes]),
       .transport = narrow(event[f::transport]),
       .destination = own_place,
       .place = own_place});
  last.call = call;
  last.is_open = true;
  const int32_t sample = named(event, f::writer_guid, f::sequence_number, f::source_timestamp);
  if (sample == kNoRow) return;
  sent_stamps_.note(samples_, sent.size(), sample, event[f::source_timestamp]);
  const Fragments own = fragments_of(event[f::fragment], event[f::fragment_count]);
  add(sent, "what was sent", {call, sample, own.first, own.count, false});
}

void Buffers::send_sample(const Event& event) {
  namespace f = field::send_sample;
  const int32_t sample = named(event, f::writer_guid, f::sequence_number, f::source_timestamp);
  if (sample == kNoRow) return;
  const int64_t stamp = event[f::source_timestamp];
  const Last& last = last_[event.thread];
  if (last.call == kNone || !is_within(calls[static_cast<size_t>(last.call)].ns, event.ns)) {
    strays_sent_.push_back({event.process, sample, stamp});
    return;
  }
  sent_stamps_.note(samples_, sent.size(), sample, stamp);
  const Fragments own = fragments_of(event[f::fragment], event[f::fragment_count]);
  add(sent, "what was sent",
      {static_cast<uint32_t>(last.call), sample, own.first, own.count, true});
}

void Buffers::send_end(const Event& event) {
  namespace f = field::send_end;
  Last& last = last_[event.thread];
  if (!last.is_open) return;
  last.is_open = false;
  SendCall& call = calls[static_cast<size_t>(last.call)];
  call.end_ns = event.ns;
  call.port = narrow(event[f::port]);
  call.destinations = narrow(event[f::destinations]);
  // Of several readers SHM gives the last one's port: all its sends go to one destination.
  const int64_t port = event[f::transport] == kShm ? 0 : event[f::port];
  const auto destination = static_cast<int64_t>((static_cast<uint64_t>(event[f::address]) << 32U) +
                                                static_cast<uint64_t>(port));
  call.destination = call.place = place(destination);
  const bool shm = call.transport == kShm;
  call.refused = event[f::result] < 0 || (shm && call.destinations == 0);
  if (shm && call.destinations == 1 && call.port > 0) {
    call.place = place(static_cast<int64_t>(static_cast<uint64_t>(destination) +
                                            static_cast<uint64_t>(call.port)));
  }
}

int32_t Buffers::place(int64_t destination) {
  const auto number = static_cast<int32_t>(places_.size());
  return places_.try_emplace(destination, number).first->second;
}

void Buffers::receive(const Event& event) {
  namespace f = field::receive;
  Last& last = last_[event.thread];
  last.received = true;
  last.received_ns = event.ns;
  last.transport = narrow(event[f::transport]);
  last.port = narrow(event[f::port]);
  const int32_t sample = named(event, f::writer_guid, f::sequence_number, f::source_timestamp);
  if (sample == kNoRow) return;
  add_came(event, last, sample, event[f::fragment], event[f::fragment_count],
           event[f::source_timestamp], false);
}

void Buffers::receive_sample(const Event& event) {
  namespace f = field::receive_sample;
  const int32_t sample = named(event, f::writer_guid, f::sequence_number, f::source_timestamp);
  if (sample == kNoRow) return;
  const Last& last = last_[event.thread];
  if (!last.received || !is_within(last.received_ns, event.ns)) {
    strays_came_.push_back({event.process, sample, event[f::source_timestamp]});
    return;
  }
  add_came(event, last, sample, event[f::fragment], event[f::fragment_count],
           event[f::source_timestamp], true);
}

void Buffers::add_came(const Event& event, const Last& buffer, int32_t sample, int64_t fragment,
                       int64_t count, int64_t stamp, bool further) {
  came_stamps_.note(samples_, came.size(), sample, stamp);
  const Fragments own = fragments_of(fragment, count);
  add(came, "what was received",
      {buffer.received_ns, event.thread, sample, own.first, buffer.transport, buffer.port,
       own.count, further});
}

void Buffers::reader_history_add(const Event& event) {
  namespace f = field::reader_history_add;
  Last& last = last_[event.thread];
  const int64_t writer = samples_.guid(event[f::writer_guid]);
  const int64_t stamp = event[f::source_timestamp];
  const bool unnumbered = event[f::sequence_number] == 0;
  last.added_stamp = unnumbered ? stamp : kNone;
  last.added_writer = unnumbered ? writer : kNone;
  const int32_t sample = samples_.named(writer, event[f::sequence_number], stamp);
  if (sample == kNoRow) return;
  added_stamps_.note(samples_, added.size(), sample, stamp);
  add(added, "additions to histories", {event.ns, event.thread, sample});
}

// Without a number it has no stamp either: it is of the history add before it on its thread.
void Buffers::reader_notify(const Event& event) {
  namespace f = field::reader_notify;
  const int64_t writer = samples_.guid(event[f::writer_guid]);
  const bool unnumbered = event[f::sequence_number] == 0;
  const Last& last = last_[event.thread];
  const int64_t stamp = unnumbered && writer == last.added_writer ? last.added_stamp : kNone;
  const int32_t sample = samples_.named(writer, event[f::sequence_number], stamp);
  if (sample == kNoRow) return;
  const auto reader = static_cast<int32_t>(samples_.guid(event[f::reader_guid]));
  add(notified, "notifications", {event.ns, event.thread, sample, reader, unnumbered});
}

void Buffers::note_sent(SamplesByStamp& asked) const {
  if (asked.empty()) return;
  RowStamps::Reader stamps(sent_stamps_, samples_);
  for (size_t row = 0; row < sent.size(); ++row) {
    const SentRun& run = sent[row];
    asked.note(process_of(calls[run.call].thread), stamps.of(row, run.sample),
               samples_.sample_of(run.sample));
  }
  for (const Stray& stray : strays_sent_) {
    asked.note(stray.process, stray.stamp, samples_.sample_of(stray.sample));
  }
}

void Buffers::note_received(SamplesByStamp& asked) const {
  if (asked.empty()) return;
  RowStamps::Reader of_came(came_stamps_, samples_);
  for (size_t row = 0; row < came.size(); ++row) {
    const CameRun& run = came[row];
    asked.note(process_of(run.thread), of_came.of(row, run.sample), samples_.sample_of(run.sample));
  }
  RowStamps::Reader of_added(added_stamps_, samples_);
  for (size_t row = 0; row < added.size(); ++row) {
    const HistoryAdd& one = added[row];
    asked.note(process_of(one.thread), of_added.of(row, one.sample),
               samples_.sample_of(one.sample));
  }
  for (const Stray& stray : strays_came_) {
    asked.note(stray.process, stray.stamp, samples_.sample_of(stray.sample));
  }
}

std::vector<Unnumbered> Buffers::unnumbered() const {
  std::vector<Unnumbered> found;
  for (size_t row = 0; row < notified.size(); ++row) {
    const Notification& one = notified[row];
    if (!samples_.is_unnumbered(one.sample)) continue;
    found.push_back({one.sample, process_of(one.thread), one.reader});
  }
  return found;
}

}  // namespace strata::dds
