// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/operations.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace strata {
namespace {

// Values of `unfinished.operation`.
constexpr int64_t kWrite = 1, kTake = 2, kSend = 3, kReceive = 4;

// A span of an event, in ns; kNone: the step was not done.
int64_t span_ns(int64_t value) {
  constexpr int64_t kMicroseconds = int64_t{1} << 31U;
  if (value <= 0) return kNone;
  return value < kMicroseconds ? value : (value - kMicroseconds) * 1000;
}

int64_t kind_of(const Event& event) {
  switch (event.type) {
    case EventType::written:
      return kWrite;
    case EventType::taken:
      return kTake;
    case EventType::sent:
      return kSend;
    case EventType::received:
      return kReceive;
    case EventType::unfinished:
      return event[field::unfinished::operation];
    default:
      return kNone;
  }
}

// When an operation began, by the trace's clock.
int64_t begin_of(const Event& event) {
  switch (event.type) {
    case EventType::written:
      return event[field::written::begin];
    case EventType::taken:
      return event[field::taken::begin];
    case EventType::sent:
      return event[field::sent::begin];
    case EventType::received:
      return event[field::received::begin];
    case EventType::serialized:
      return event[field::serialized::begin];
    case EventType::deserialized:
      return event[field::deserialized::begin];
    case EventType::unfinished:
      return event[field::unfinished::begin];
    default:
      return kNone;
  }
}

void copy(const Event& from, int field, Event& to, int into) {
  to.value[static_cast<size_t>(into)] = from[field];
  if (from.has(field)) to.present = static_cast<uint16_t>(to.present | 1U << into);
}

void set(Event& to, int into, int64_t value) {
  to.value[static_cast<size_t>(into)] = value;
  to.present = static_cast<uint16_t>(to.present | 1U << into);
}

}  // namespace

const Operations::Steps& Operations::steps_of(const Arrival& operation) {
  const Event& event = operation.event;
  const Place& place = operation.place;
  made_.count = 0;
  if (place.vpid == kNone || place.vtid == kNone) return made_;
  make(operation);
  const bool is_unfinished = event.type == EventType::unfinished;
  const int64_t thread = is_unfinished ? event[field::unfinished::thread] : place.vtid;
  leave_new(event, {place.host, place.pid_ns, place.vpid, thread, kind_of(event)});
  return made_;
}

void Operations::leave_new(const Event& event, const Key& key) {
  const int64_t begin = begin_of(event);
  const bool goes_on =
      event.type == EventType::unfinished && event[field::unfinished::may_end] == 1;
  Ended& ended = last_ended(key);
  if (!goes_on) {
    ended = {key, begin};
    if (open_.empty()) return;
  } else if (ended.begin == begin && ended.key == key) {
    // The watch had looked before the operation ended, and came later to say so.
    made_.count = 0;
    return;
  }
  std::vector<Open>& open = open_[key];
  auto same = std::ranges::find(open, begin, &Open::begin);
  if (same == open.end()) same = open.insert(same, {begin, 0});
  const size_t given = std::min(same->given, made_.count);
  std::shift_left(made_.step.begin(), made_.step.begin() + static_cast<std::ptrdiff_t>(made_.count),
                  static_cast<std::ptrdiff_t>(given));
  if (goes_on) {
    same->given = std::max(same->given, made_.count);
  } else {
    open.erase(same);
  }
  made_.count -= given;
  if (open.empty()) open_.erase(key);
}

void Operations::make(const Arrival& operation) {
  const Event& event = operation.event;
  from_ = &operation;
  made_.count = 0;
  const int64_t begin = begin_of(event);
  begin_ns_ = event.ns;
  // Where the clock says nothing, all steps are at the end.
  if (begin > 0 && begin <= operation.clock) {
    const auto lasted = static_cast<uint64_t>(operation.clock - begin);
    const auto began = static_cast<int64_t>(static_cast<uint64_t>(event.ns) - lasted);
    begin_ns_ = began <= event.ns ? began : INT64_MIN;
  }
  switch (event.type) {
    case EventType::written:
      written(event);
      break;
    case EventType::taken:
      taken(event);
      break;
    case EventType::sent:
      sent(event);
      break;
    case EventType::received:
      received(event);
      break;
    case EventType::serialized:
      converted(event, EventType::serialize_begin, EventType::serialize_end);
      break;
    case EventType::deserialized:
      converted(event, EventType::deserialize_begin, EventType::deserialize_end);
      break;
    case EventType::unfinished:
      unfinished(event);
      break;
    default:
      break;
  }
}

// No step is before the begin of its operation, or after its event.
Event& Operations::add(EventType type, int64_t ns) {
  Arrival& arrival = made_.step[made_.count++];
  arrival.place = from_->place;
  arrival.name = kNone;
  arrival.clock = kNone;
  Event& event = arrival.event;
  event = {};
  event.value.fill(kNone);
  event.ns = std::clamp(ns, begin_ns_, from_->event.ns);
  event.type = type;
  event.host = from_->event.host;
  event.procname = from_->event.procname;
  event.cpu = from_->event.cpu;
  event.is_step = true;
  return event;
}

namespace {

int64_t at(int64_t begin_ns, int64_t span) {
  return static_cast<int64_t>(static_cast<uint64_t>(begin_ns) + static_cast<uint64_t>(span));
}

}  // namespace

void Operations::written(const Event& event) {
  namespace f = field::written;
  Event& begin = add(EventType::write_begin, begin_ns_);
  copy(event, f::writer, begin, field::write_begin::writer);
  copy(event, f::data, begin, field::write_begin::data);
  const int64_t serialize = span_ns(event[f::serialize_begin]);
  if (serialize != kNone) {
    Event& step = add(EventType::serialize_begin, at(begin_ns_, serialize));
    copy(event, f::data, step, field::serialize_begin::data);
  }
  const int64_t serialized = span_ns(event[f::serialize_end]);
  if (serialize != kNone && serialized != kNone) {
    Event& step = add(EventType::serialize_end, at(begin_ns_, serialized));
    copy(event, f::data, step, field::serialize_end::data);
    copy(event, f::size, step, field::serialize_end::size);
  }
  const int64_t added = span_ns(event[f::writer_history_add]);
  if (added != kNone) {
    Event& step = add(EventType::writer_history_add, at(begin_ns_, added));
    copy(event, f::writer_guid, step, field::writer_history_add::writer_guid);
    copy(event, f::sequence_number, step, field::writer_history_add::sequence_number);
    copy(event, f::source_timestamp, step, field::writer_history_add::source_timestamp);
    copy(event, f::size, step, field::writer_history_add::size);
  }
  Event& end = add(EventType::write_end, event.ns);
  copy(event, f::writer, end, field::write_end::writer);
  copy(event, f::result, end, field::write_end::result);
}

void Operations::taken(const Event& event) {
  namespace f = field::taken;
  Event& begin = add(EventType::take_begin, begin_ns_);
  copy(event, f::reader, begin, field::take_begin::reader);
  const int64_t deserialize = span_ns(event[f::deserialize_begin]);
  if (deserialize != kNone) {
    Event& step = add(EventType::deserialize_begin, at(begin_ns_, deserialize));
    copy(event, f::buffer, step, field::deserialize_begin::data);
  }
  const int64_t deserialized = span_ns(event[f::deserialize_end]);
  if (deserialize != kNone && deserialized != kNone) {
    Event& step = add(EventType::deserialize_end, at(begin_ns_, deserialized));
    copy(event, f::buffer, step, field::deserialize_end::data);
    copy(event, f::size, step, field::deserialize_end::size);
  }
  Event& end = add(EventType::take_end, event.ns);
  namespace t = field::take_end;
  const std::array<std::pair<int, int>, 7> same = {{{f::reader, t::reader},
                                                    {f::buffer, t::buffer},
                                                    {f::writer_guid, t::writer_guid},
                                                    {f::sequence_number, t::sequence_number},
                                                    {f::source_timestamp, t::source_timestamp},
                                                    {f::taken, t::taken},
                                                    {f::result, t::result}}};
  for (const auto& [from, into] : same) copy(event, from, end, into);
}

void Operations::sent(const Event& event) {
  namespace f = field::sent;
  namespace b = field::send_begin;
  namespace e = field::send_end;
  Event& begin = add(EventType::send_begin, begin_ns_);
  const std::array<std::pair<int, int>, 9> same = {{{f::transport, b::transport},
                                                    {f::bytes, b::bytes},
                                                    {f::writer_guid, b::writer_guid},
                                                    {f::sequence_number, b::sequence_number},
                                                    {f::source_timestamp, b::source_timestamp},
                                                    {f::size, b::size},
                                                    {f::fragment, b::fragment},
                                                    {f::fragment_count, b::fragment_count},
                                                    {f::fragment_size, b::fragment_size}}};
  for (const auto& [from, into] : same) copy(event, from, begin, into);
  Event& end = add(EventType::send_end, event.ns);
  const std::array<std::pair<int, int>, 5> there = {{{f::transport, e::transport},
                                                     {f::address, e::address},
                                                     {f::port, e::port},
                                                     {f::destinations, e::destinations},
                                                     {f::result, e::result}}};
  for (const auto& [from, into] : there) copy(event, from, end, into);
}

void Operations::received(const Event& event) {
  namespace f = field::received;
  namespace r = field::receive;
  namespace a = field::reader_history_add;
  namespace n = field::reader_notify;
  Event& begin = add(EventType::receive, begin_ns_);
  const std::array<std::pair<int, int>, 7> same = {{{f::transport, r::transport},
                                                    {f::port, r::port},
                                                    {f::bytes, r::bytes},
                                                    {f::writer_guid, r::writer_guid},
                                                    {f::sequence_number, r::sequence_number},
                                                    {f::source_timestamp, r::source_timestamp},
                                                    {f::size, r::size}}};
  for (const auto& [from, into] : same) copy(event, from, begin, into);
  for (const int whole : {r::fragment, r::fragment_count, r::fragment_size}) set(begin, whole, 0);
  const int64_t added = span_ns(event[f::reader_history_add]);
  if (added != kNone) {
    Event& step = add(EventType::reader_history_add, at(begin_ns_, added));
    copy(event, f::writer_guid, step, a::writer_guid);
    copy(event, f::sequence_number, step, a::sequence_number);
    copy(event, f::source_timestamp, step, a::source_timestamp);
    copy(event, f::size, step, a::size);
  }
  if (event[f::notified] == kNone || event[f::notified] == 0) return;
  Event& end = add(EventType::reader_notify, event.ns);
  copy(event, f::reader_guid, end, n::reader_guid);
  copy(event, f::writer_guid, end, n::writer_guid);
  copy(event, f::sequence_number, end, n::sequence_number);
}

void Operations::converted(const Event& event, EventType begin, EventType end) {
  namespace f = field::serialized;
  namespace e = field::serialize_end;
  static_assert(f::data == field::deserialized::data && f::size == field::deserialized::size &&
                f::end == field::deserialized::end);
  static_assert(e::data == field::deserialize_end::data && e::size == field::deserialize_end::size);
  static_assert(field::serialize_begin::data == field::deserialize_begin::data);
  copy(event, f::data, add(begin, begin_ns_), field::serialize_begin::data);
  const int64_t ended = span_ns(event[f::end]);
  if (ended == kNone) return;
  Event& step = add(end, at(begin_ns_, ended));
  copy(event, f::data, step, e::data);
  copy(event, f::size, step, e::size);
}

void Operations::unfinished(const Event& event) {
  namespace f = field::unfinished;
  const auto identity = [&](Event& to, int guid, int sequence, int stamp, int size) {
    copy(event, f::writer_guid, to, guid);
    copy(event, f::sequence_number, to, sequence);
    copy(event, f::source_timestamp, to, stamp);
    copy(event, f::size, to, size);
  };
  const auto ns_of = [&](int step) {
    const int64_t span = span_ns(event[step]);
    return span == kNone ? kNone : at(begin_ns_, span);
  };
  switch (event[f::operation]) {
    case kWrite: {
      Event& begin = add(EventType::write_begin, begin_ns_);
      copy(event, f::entity, begin, field::write_begin::writer);
      copy(event, f::data, begin, field::write_begin::data);
      const int64_t serialize = ns_of(f::first_step), serialized = ns_of(f::second_step);
      if (serialize != kNone) {
        copy(event, f::data, add(EventType::serialize_begin, serialize),
             field::serialize_begin::data);
      }
      if (serialize != kNone && serialized != kNone) {
        Event& step = add(EventType::serialize_end, serialized);
        copy(event, f::data, step, field::serialize_end::data);
        copy(event, f::size, step, field::serialize_end::size);
      }
      const int64_t added = ns_of(f::third_step);
      if (added == kNone) break;
      namespace a = field::writer_history_add;
      identity(add(EventType::writer_history_add, added), a::writer_guid, a::sequence_number,
               a::source_timestamp, a::size);
      break;
    }
    case kTake: {
      copy(event, f::entity, add(EventType::take_begin, begin_ns_), field::take_begin::reader);
      const int64_t deserialize = ns_of(f::first_step), deserialized = ns_of(f::second_step);
      if (deserialize == kNone) break;
      copy(event, f::data, add(EventType::deserialize_begin, deserialize),
           field::deserialize_begin::data);
      if (deserialized == kNone) break;
      Event& step = add(EventType::deserialize_end, deserialized);
      copy(event, f::data, step, field::deserialize_end::data);
      copy(event, f::size, step, field::deserialize_end::size);
      break;
    }
    case kSend: {
      namespace b = field::send_begin;
      Event& begin = add(EventType::send_begin, begin_ns_);
      copy(event, f::transport, begin, b::transport);
      copy(event, f::bytes, begin, b::bytes);
      identity(begin, b::writer_guid, b::sequence_number, b::source_timestamp, b::size);
      copy(event, f::first_step, begin, b::fragment);
      copy(event, f::second_step, begin, b::fragment_count);
      copy(event, f::third_step, begin, b::fragment_size);
      break;
    }
    case kReceive: {
      namespace r = field::receive;
      Event& begin = add(EventType::receive, begin_ns_);
      copy(event, f::transport, begin, r::transport);
      copy(event, f::port, begin, r::port);
      copy(event, f::bytes, begin, r::bytes);
      identity(begin, r::writer_guid, r::sequence_number, r::source_timestamp, r::size);
      for (const int whole : {r::fragment, r::fragment_count, r::fragment_size}) {
        set(begin, whole, 0);
      }
      const int64_t added = ns_of(f::first_step);
      if (added == kNone) break;
      namespace a = field::reader_history_add;
      identity(add(EventType::reader_history_add, added), a::writer_guid, a::sequence_number,
               a::source_timestamp, a::size);
      break;
    }
    default:
      break;
  }
  for (Arrival& step : std::span(made_.step).first(made_.count)) {
    step.place.vtid = event[f::thread];
    // That of who emitted it.
    step.event.procname = step.event.cpu = -1;
  }
}

}  // namespace strata
