// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Events of any types, in any order, with any values, one after the other. The first byte is the
// number of windows of losses (bits 0 and 1), whether hosts share a clock (2), a process is left
// out (3) and a namespace has a host of its own (4), the number of restarts (5 and 6), and whether
// two engines that get the events in two ways are compared (7). Each window has two bytes, as
// events have for their time; then come one for the process that is left out, and two for each
// restart. An event is a type, a step in time, a place, and a byte for each of its fields: a small
// number, a null, an extreme, or the eight bytes that follow.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/promises.hpp"
#include "model/engine.hpp"
#include "model/late_events.hpp"

namespace {

using strata::EventType;
using strata::FieldKind;

constexpr int64_t kBegin = 1'700'000'000'000'000'000;
constexpr size_t kPlaces = 12;

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : at_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  uint8_t next() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  int64_t number() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8U | next();
    return static_cast<int64_t>(value);
  }

 private:
  const uint8_t* at_;
  size_t left_;
};

int64_t step_of(uint8_t byte, Bytes& bytes) {
  if (byte < 128) return byte % 4;
  if (byte < 192) return int64_t{1} << (byte % 48);
  if (byte < 250) return 100 * (byte - 192);
  if (byte < 252) return -(byte - 249) * 50;
  return bytes.number() >> (byte - 252) * 16;
}

// The value of a field of a kind; false: null.
bool fill(strata::Strings& strings, FieldKind kind, Bytes& bytes, int64_t& value) {
  const uint8_t byte = bytes.next();
  if (byte == 255) return false;
  switch (kind) {
    case FieldKind::number:
      if (byte < 200) value = byte % 16;
      // Instants, and the ids that rclpy's events have in place of addresses.
      else if (byte < 225)
        value = kBegin + (byte - 200);
      else if (byte < 240)
        value = (int64_t{1} << 52U) + byte % 4;
      else if (byte < 245)
        value = INT64_MAX - byte % 2;
      else if (byte < 248)
        value = INT64_MIN;
      else if (byte < 250)
        value = strata::kNone;
      else
        value = bytes.number();
      return true;
    case FieldKind::text:
      value = strings.texts.number(std::string(byte % 4, static_cast<char>('a' + byte % 8)));
      return true;
    case FieldKind::bytes: {
      const size_t length = byte < 230 ? 16 : byte - 230;
      value = strings.bytes.number(std::string(length, static_cast<char>(byte % 8)));
      return true;
    }
    case FieldKind::list: {
      auto& list = strings.lists.emplace_back();
      for (int i = 0; i < byte % 8; ++i) list.push_back(bytes.next());
      value = static_cast<int64_t>(strings.lists.size()) - 1;
      return true;
    }
  }
  return false;
}

strata::Place place_of(uint8_t byte, strata::Strings& strings) {
  if (byte >= 254) return {};  // an event without its contexts
  const int64_t number = byte % kPlaces;
  strata::Place place;
  place.host = strings.texts.number(number < 10 ? "host" : "other");
  place.pid_ns = number % 5 == 4 ? strata::kNone : 1 + byte / 128;
  place.vpid = 1 + number / 3;
  place.vtid = 1 + number;
  return place;
}

int64_t after(int64_t ns, Bytes& bytes) {
  return static_cast<int64_t>(static_cast<uint64_t>(ns) +
                              static_cast<uint64_t>(step_of(bytes.next(), bytes)));
}

strata::Settings settings_of(Bytes& bytes, strata::Strings& strings) {
  const uint8_t wanted = bytes.next();
  std::vector<std::pair<int64_t, int64_t>> windows;
  int64_t ns = kBegin;
  for (int left = wanted % 4; left > 0; --left) {
    ns = after(ns, bytes);
    windows.emplace_back(ns, ns + bytes.next() % 64);
  }
  strata::Settings settings;
  settings.losses = strata::Losses(std::move(windows));
  const int64_t host = strings.texts.number("host"), other = strings.texts.number("other");
  if ((wanted & 4U) != 0) settings.clocks = {{host, host}, {other, host}};
  if ((wanted & 8U) != 0) settings.left_out = {1 + bytes.next() % 5};
  if ((wanted & 16U) != 0) settings.namespaces[{host, 2}] = strings.texts.number("host (2)");
  ns = kBegin;
  for (int left = wanted >> 5U & 3; left > 0; --left) {
    ns = after(ns, bytes);
    const uint8_t byte = bytes.next();
    settings.restarts.push_back({byte % 8 == 7 ? other : host, 1 + byte % 4, ns});
  }
  return settings;
}

std::vector<strata::Arrival> arrivals_of(Bytes& bytes, strata::Strings& strings) {
  std::vector<strata::Arrival> arrivals;
  int64_t ns = kBegin;
  while (!bytes.empty()) {
    const size_t number = bytes.next() % (strata::kEventTypes + 1);
    ns = after(ns, bytes);
    strata::Arrival& arrival = arrivals.emplace_back();
    arrival.event.ns = ns;
    arrival.event.value.fill(strata::kNone);
    const uint8_t place = bytes.next();
    arrival.place = place_of(place, strings);
    arrival.event.type = static_cast<EventType>(number);
    arrival.event.host = static_cast<int32_t>(arrival.place.host);
    if (number == strata::kEventTypes && place % 4 != 3) {
      arrival.name = strings.texts.number(place % 4 == 0 ? "syscall" : "ros2:unknown");
    }
    const char* name = place % 32 < 8 ? "other" : "name";
    if (place % 8 != 0) arrival.event.procname = static_cast<int32_t>(strings.texts.number(name));
    arrival.event.cpu = place % 5 - 1;
    if (number == strata::kEventTypes) continue;
    const size_t first = strata::first_field(static_cast<EventType>(number));
    for (size_t i = 0; i < strata::kEvents[number].fields; ++i) {
      int64_t value = strata::kNone;
      if (!fill(strings, strata::kFields[first + i].kind, bytes, value)) continue;
      arrival.event.value[i] = value;
      arrival.event.present = static_cast<uint16_t>(arrival.event.present | 1U << i);
    }
  }
  return arrivals;
}

// Fields that the type of an event does not have may have any values.
void push_with_other_values(strata::Engine& engine, const std::vector<strata::Arrival>& arrivals) {
  for (const strata::Arrival& from : arrivals) {
    strata::Arrival& to = engine.next_of_any_values(from.event.ns);
    to = from;
    const auto type = static_cast<size_t>(from.event.type);
    const size_t fields = type < strata::kEventTypes ? strata::kEvents[type].fields : 0;
    for (size_t i = fields; i < strata::kMostFields; ++i) to.event.value[i] = kBegin - 7;
  }
}

// How much earlier than an event before it any event is, as ctf::Merge tells.
int64_t latest_by(const std::vector<strata::Arrival>& arrivals) {
  int64_t latest = INT64_MIN;
  uint64_t by = 0;
  for (const strata::Arrival& arrival : arrivals) {
    latest = std::max(latest, arrival.event.ns);
    by = std::max(by, static_cast<uint64_t>(latest) - static_cast<uint64_t>(arrival.event.ns));
  }
  return static_cast<int64_t>(std::min<uint64_t>(by, INT64_MAX));
}

// Whichever way events come, late or in order, what is told of them is the same.
void compare_ways(const strata::Settings& settings, const strata::Strings& strings,
                  std::vector<strata::Arrival> arrivals) {
  const int64_t late = latest_by(arrivals);
  if (late == INT64_MAX) return;
  strata::Engine as_they_come(settings, strings), in_order(settings, strings);
  strata::LateEvents source(as_they_come, late);
  for (const strata::Arrival& arrival : arrivals) source.next(arrival.event.ns) = arrival;
  source.finish();
  as_they_come.finish();
  std::ranges::stable_sort(arrivals, {}, [](const auto& arrival) { return arrival.event.ns; });
  push_with_other_values(in_order, arrivals);
  in_order.finish();
  fuzz::check_same(as_they_come, in_order);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(data, size);
  strata::Strings strings;
  const strata::Settings settings = settings_of(bytes, strings);
  const std::vector<strata::Arrival> arrivals = arrivals_of(bytes, strings);
  if (size > 0 && (data[0] & 128U) != 0) {
    compare_ways(settings, strings, arrivals);
    return 0;
  }
  strata::Engine engine(settings, std::move(strings));
  for (const strata::Arrival& arrival : arrivals) engine.next(arrival.event.ns) = arrival;
  engine.end();
  fuzz::check_identities(engine);
  engine.finish();
  fuzz::check_promises(engine);
  return 0;
}
