// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/batches.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <string>

#include "model/differences.hpp"

namespace strata {
namespace {

template <typename T>
const T* buffer(const ArrowArray& array, int64_t number) {
  return number < array.n_buffers ? static_cast<const T*>(array.buffers[number]) : nullptr;
}

}  // namespace

Batch::Batch(std::string_view event, const ArrowSchema& schema, const ArrowArray& array,
             Strings& strings)
    : strings_(strings), type_(event_named(event)), rows_(array.length) {
  fields_.fill(-1);
  if (type_ == EventType::other) name_ = strings.texts.number(event);
  const auto number = static_cast<size_t>(type_);
  const size_t first = type_ == EventType::other ? 0 : first_field(type_);
  const size_t fields = type_ == EventType::other ? 0 : kEvents[number].fields;
  for (int64_t i = 0; i < array.n_children; ++i) {
    const std::string_view name = schema.children[i]->name;
    if (name == "timestamp") {
      ns_ = buffer<int64_t>(*array.children[i], 1) + array.children[i]->offset + array.offset;
      continue;
    }
    int* place = nullptr;
    if (name == "host") place = &host_;
    if (name == "vpid") place = &vpid_;
    if (name == "vtid") place = &vtid_;
    if (name == "pid_ns") place = &pid_ns_;
    if (name == "procname") place = &procname_;
    if (name == "cpu_id") place = &cpu_;
    for (size_t k = 0; k < fields; ++k) {
      if (kFields[first + k].column == name) place = &fields_[k];
    }
    if (place == nullptr) continue;
    *place = static_cast<int>(sources_.size());
    sources_.push_back(source_of(*schema.children[i], *array.children[i]));
    sources_.back().offset += array.offset;
  }
  if (ns_ == nullptr) throw std::invalid_argument("a batch of events has no column timestamp");
}

Batch::Source Batch::source_of(const ArrowSchema& schema, const ArrowArray& array) const {
  Source source;
  source.offset = array.offset;
  source.validity = array.null_count == 0 ? nullptr : buffer<uint8_t>(array, 0);
  const std::string_view format = schema.format;
  if (schema.dictionary != nullptr && format == "i" &&
      std::string_view(schema.dictionary->format) == "u") {
    source.kind = Kind::text;
    source.codes = buffer<int32_t>(array, 1);
    source.words = array.dictionary;
    source.texts.assign(static_cast<size_t>(array.dictionary->length), kNone);
  } else if (format == "l" || format == "L") {
    source.numbers = buffer<int64_t>(array, 1);
  } else if (format == "z") {
    source.kind = Kind::bytes;
    source.codes = buffer<int32_t>(array, 1);
    source.content = buffer<char>(array, 2);
  } else if (format == "+l") {
    source.kind = Kind::list;
    source.codes = buffer<int32_t>(array, 1);
    source.numbers = buffer<int64_t>(*array.children[0], 1) + array.children[0]->offset;
  } else {
    throw std::invalid_argument(std::string("column ") + schema.name + " has type " +
                                schema.format + ", which no event table has");
  }
  return source;
}

// Words are numbered when they are met first: how events are cut into batches changes nothing.
int64_t Batch::text(Source& source, size_t code) {
  int64_t& number = source.texts[code];
  if (number != kNone) return number;
  const int32_t* ends = buffer<int32_t>(*source.words, 1) + source.words->offset + code;
  const auto size = static_cast<size_t>(ends[1] - ends[0]);
  const char* word = size == 0 ? "" : buffer<char>(*source.words, 2) + ends[0];
  return number = strings_.texts.number({word, size});
}

int64_t Batch::value(Source& source) {
  if (!source.is_valid(row_)) return kNone;
  const int64_t at = source.offset + row_;
  switch (source.kind) {
    case Kind::number:
      return source.numbers[at];
    case Kind::text:
      return text(source, static_cast<size_t>(source.codes[at]));
    case Kind::bytes: {
      const auto size = static_cast<size_t>(source.codes[at + 1] - source.codes[at]);
      const char* content = size == 0 ? "" : source.content + source.codes[at];
      return strings_.bytes.number({content, size});
    }
    case Kind::list:
      strings_.lists.emplace_back(source.numbers + source.codes[at],
                                  source.numbers + source.codes[at + 1]);
      return static_cast<int64_t>(strings_.lists.size()) - 1;
  }
  return kNone;
}

void Batch::next(Arrival& arrival) {
  Event& event = arrival.event;
  event.type = type_;
  arrival.name = name_;
  event.host = static_cast<int32_t>(optional(host_));
  event.procname = static_cast<int32_t>(optional(procname_));
  event.cpu = cpu_number(optional(cpu_));
  arrival.place = {event.host, optional(pid_ns_), optional(vpid_), optional(vtid_)};
  for (size_t k = 0; k < kMostFields; ++k) {
    const int source = fields_[k];
    event.value[k] = optional(source);
    if (source >= 0 && sources_[static_cast<size_t>(source)].is_valid(row_)) {
      event.present = static_cast<uint16_t>(event.present | 1U << k);
    }
  }
  ++row_;
}

std::vector<Arrival> arrivals_of(std::vector<Batch>& batches) {
  std::vector<Arrival> found;
  for (Batch& batch : batches) {
    while (!batch.is_over()) {
      Arrival& arrival = found.emplace_back();
      arrival.event.ns = batch.ns();
      arrival.event.value.fill(kNone);
      batch.next(arrival);
    }
  }
  // What was made of other things comes after them, whatever order the batches have.
  std::ranges::stable_sort(found, {}, [](const Arrival& arrival) {
    const EventType type = arrival.event.type;
    return std::pair(arrival.event.ns, type == EventType::other ? UINT8_MAX : rank_of(type));
  });
  return found;
}

void push_in_order(Engine& engine, Intake* intake, const ClockOrigins& origins,
                   std::vector<Batch>& batches) {
  using Next = std::pair<int64_t, size_t>;  // time, batch
  std::priority_queue<Next, std::vector<Next>, std::greater<>> heap;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (!batches[i].is_over()) heap.emplace(batches[i].ns(), i);
  }
  while (!heap.empty()) {
    const size_t number = heap.top().second;
    heap.pop();
    Batch& batch = batches[number];
    Arrival& arrival = intake != nullptr ? intake->next(batch.ns()) : engine.next(batch.ns());
    batch.next(arrival);
    const auto origin = batch.has_steps() ? origins.find(arrival.event.host) : origins.end();
    if (origin != origins.end()) arrival.clock = minus(arrival.event.ns, origin->second);
    if (!batch.is_over()) heap.emplace(batch.ns(), number);
  }
}

}  // namespace strata
