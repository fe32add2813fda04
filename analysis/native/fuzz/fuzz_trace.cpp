// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A trace on its whole way, from bytes to rows: how many events are read at once (a byte), where
// the second stream file begins (u16, little endian; 0: there is one), the length of the metadata
// (u32, little endian), the metadata, the files. As the analysis does, it is read again as long as
// a reading tells what the next has to be told: how late events come, which namespaces share
// process ids, and which ids are other processes later on.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "decode/trace_set.hpp"
#include "fuzz/promises.hpp"
#include "fuzz/stream_file.hpp"
#include "metadata/metadata.hpp"
#include "model/engine.hpp"
#include "model/intake.hpp"
#include "model/restarts.hpp"
#include "model/trace_events.hpp"

namespace {

// Of events that are a bit each a small file has more than are read in the time of an input.
constexpr uint64_t kMostEvents = 20'000;
constexpr int kMostReadings = 4;

// What a reading is told of the trace; names, as numbers of texts are of one engine.
struct Known {
  int64_t latest_by = 0;
  std::vector<std::pair<std::string, int64_t>> namespaces;
  std::vector<std::tuple<std::string, int64_t, int64_t>> restarts;  // host, process id, ns
  bool operator==(const Known&) const = default;
};

struct Reading {
  std::unique_ptr<strata::Engine> engine;
  uint64_t events = 0;
  uint64_t out_of_order = 0;
  int64_t latest_by = 0;
};

strata::Settings settings_of(const Known& known, strata::Strings& strings) {
  const auto text = [&strings](const std::string& name) { return strings.texts.number(name); };
  strata::Settings settings;
  for (const auto& [host, number] : known.namespaces) {
    const int64_t own = text(host + " (" + std::to_string(number) + ")");
    settings.namespaces[{text(host), number}] = own;
    settings.clocks[own] = text(host);
  }
  for (const auto& [host, vpid, ns] : known.restarts) {
    settings.restarts.push_back({text(host), vpid, ns});
  }
  return settings;
}

// All events, or no more than are read in the time.
Reading read(const ctf::TraceSet& traces, const Known& known, uint64_t at_once) {
  Reading reading;
  strata::Strings strings;
  strata::Settings settings = settings_of(known, strings);
  reading.engine = std::make_unique<strata::Engine>(std::move(settings), std::move(strings));
  strata::TraceEvents source(traces, *reading.engine, known.latest_by);
  while (source.push(at_once) && source.events() <= kMostEvents) continue;
  reading.events = source.events();
  reading.out_of_order = source.out_of_order();
  reading.latest_by = source.too_late_by();
  return reading;
}

// What the next reading is told.
Known told_by(const Reading& reading, const Known& before) {
  const strata::Engine& engine = *reading.engine;
  const auto host = [&](int64_t number) {
    return number == strata::kNone ? std::string() : std::string(engine.strings().texts[number]);
  };
  Known told;
  told.latest_by = std::max(before.latest_by, reading.latest_by);
  for (const auto& [name, number] : engine.namespaces().sharing()) {
    told.namespaces.emplace_back(host(name), number);
  }
  if (told.namespaces != before.namespaces) return told;
  for (const strata::Restart& restart : engine.restarts().found()) {
    told.restarts.emplace_back(host(restart.host), restart.vpid, restart.ns);
  }
  return told;
}

void check_events(const Reading& reading, const Known& known) {
  uint64_t counted = 0;
  for (const uint64_t count : reading.engine->counts()) counted += count;
  const bool is_told = reading.latest_by <= known.latest_by;
  fuzz::check(is_told ? counted == reading.events : counted <= reading.events,
              "events that are not counted once");
  const auto& counts = reading.engine->counts();
  bool has_steps = false;
  for (size_t type = 0; type < strata::kEventTypes; ++type) {
    has_steps |=
        counts[type] > 0 && strata::Intake::looks_back(static_cast<strata::EventType>(type));
  }
  const bool is_late = reading.latest_by > 0;
  fuzz::check(
      has_steps ? reading.out_of_order == 0 || is_late : (reading.out_of_order > 0) == is_late,
      "events that come late or not");
}

// Once it is told how late they come, events are looked at in order of time.
void check_order(Reading& reading) {
  if (reading.latest_by == INT64_MAX) return;  // Or later than that.
  const strata::Rows& rows = reading.engine->rows();
  const auto is_in_order = [](const strata::Column<int64_t>& ns) {
    return std::is_sorted(ns.data(), ns.data() + ns.size());
  };
  fuzz::check(is_in_order(rows.publishes.ns), "publications out of order");
  fuzz::check(is_in_order(rows.executions.start_ns), "executions out of order");
  fuzz::check(is_in_order(rows.enqueues.ns), "enqueues out of order");
}

void check_same(Reading& one, Reading& other) {
  fuzz::check(one.events == other.events && one.out_of_order == other.out_of_order &&
                  one.latest_by == other.latest_by,
              "another reading has other events");
  fuzz::check_same(*one.engine, *other.engine);
  const strata::Interner &texts = one.engine->strings().texts,
                         &others = other.engine->strings().texts;
  fuzz::check(texts.size() == others.size(), "other texts");
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    fuzz::check(texts[number] == others[number], "another text");
  }
}

void read_all(const ctf::TraceSet& traces, uint64_t at_once) {
  Known known;
  Reading reading;
  for (int left = kMostReadings;;) {
    reading = read(traces, known, at_once);
    if (reading.events > kMostEvents) return;
    reading.engine->end();
    fuzz::check_identities(*reading.engine);
    check_events(reading, known);
    const Known told = told_by(reading, known);
    if (--left == 0 || told == known) break;
    known = told;
  }
  reading.engine->finish();
  fuzz::check_promises(*reading.engine);
  check_order(reading);
  Reading at_one_time = read(traces, known, 2 * kMostEvents);
  at_one_time.engine->finish();
  check_same(reading, at_one_time);
}

uint64_t number_at(const uint8_t* at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= uint64_t{at[i]} << 8 * i;
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::array<fuzz::StreamFile, 2> files;
  constexpr size_t kHead = 7;
  if (size < kHead) return 0;
  const uint64_t at_once = 1 + data[0] % 64;
  const size_t second = number_at(data + 1, 2), length = number_at(data + 3, 4);
  data += kHead;
  size -= kHead;
  if (length > size) return 0;

  std::shared_ptr<const ctf::Layout> layout;
  try {
    layout = ctf::parse_metadata({data, length});
  } catch (const ctf::MetadataError&) {
    return 0;
  }
  data += length;
  size -= length;
  const size_t first = second > 0 && second < size ? second : size;
  std::vector<std::string> paths = {files[0].put(data, first)};
  if (first < size) paths.push_back(files[1].put(data + first, size - first));
  ctf::TraceSet traces;
  traces.add({"host", layout}, paths);
  traces.index();
  read_all(traces, at_once);
  return 0;
}
