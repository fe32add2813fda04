// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/dds_functions.hpp"

#include <span>
#include <stdexcept>
#include <vector>

#include "binding/arrays.hpp"
#include "model/dds/middleware.hpp"
#include "model/dds/ways.hpp"

namespace nb = nanobind;

namespace {

// Columns of one table, filled row by row.
template <size_t N>
class Table {
 public:
  explicit Table(const std::array<const char*, N>& names) : names_(names) {}
  void add(const std::array<int64_t, N>& row) {
    for (size_t i = 0; i < N; ++i) columns_[i].push_back(row[i]);
  }
  nb::dict arrays() const {
    nb::dict found;
    for (size_t i = 0; i < N; ++i) found[names_[i]] = as_array(columns_[i]);
    return found;
  }

 private:
  std::array<const char*, N> names_;
  std::array<strata::Column<int64_t>, N> columns_;
};

using ArrivalsTable = Table<8>;

constexpr std::array<const char*, 8> kArrivals = {"place",     "sample",  "received_ns", "last_ns",
                                                  "recovered", "arrived", "transport",   "port"};

void add_places(ArrivalsTable& table, int64_t sample,
                std::span<const strata::dds::Transmission::Place> places) {
  for (const auto& [number, came] : places) {
    table.add({int64_t{number}, sample, came.received_ns, came.last_ns, came.recovered,
               came.arrived, came.transport, came.port});
  }
}

}  // namespace

nb::dict transmissions_of(strata::Engine& engine) {
  Table<6> sends({"sample", "first_send_ns", "first_sent_ns", "transport", "fragments", "again"});
  ArrivalsTable by_thread(kArrivals), by_process(kArrivals);
  Table<4> held({"sample", "ns", "end_ns", "usual_ns"});
  strata::dds::Wire& wire = engine.middleware().wire();
  for (size_t row = 0; row < wire.samples().size(); ++row) {
    const auto sample = static_cast<int64_t>(row);
    strata::dds::Transmission& one = wire.of(sample);
    const strata::dds::Sends& sent = one.sends();
    if (sent.fragments != strata::kNone) {
      sends.add({sample, sent.first_send_ns, sent.first_sent_ns, sent.transport, sent.fragments,
                 one.sent_again() ? 1 : 0});
    }
    add_places(by_thread, sample, one.by_thread());
    add_places(by_process, sample, one.by_process());
    for (const auto& call : one.held()) held.add({sample, call.ns, call.end_ns, call.usual_ns});
  }
  nb::dict tables;
  tables["sends"] = sends.arrays();
  tables["by_thread"] = by_thread.arrays();
  tables["by_process"] = by_process.arrays();
  tables["held"] = held.arrays();
  return tables;
}

nb::dict ways_of(strata::Engine& engine, const std::array<MessageColumn, 8>& messages) {
  std::vector<strata::dds::Message> asked(messages[0].shape(0));
  for (const MessageColumn& column : messages) {
    if (column.shape(0) != asked.size()) throw std::invalid_argument("columns differ in length");
  }
  const auto rows_of = [](const auto& table) { return static_cast<int64_t>(table.size()); };
  const strata::Rows& rows = engine.rows();
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto value = [&](size_t column) { return messages[column].data()[i]; };
    asked[i] = {value(0), value(1), value(2), value(3),
                value(4), value(5), value(6), value(7) != 0};
    const auto is_row = [](int64_t row, int64_t count) { return row >= -1 && row < count; };
    if (!is_row(asked[i].write, rows_of(rows.writes)) ||
        !is_row(asked[i].read, rows_of(rows.reads))) {
      throw std::out_of_range("a message names no row of writes or reads");
    }
  }
  Table<8> found({"since_ns", "sent_ns", "held_ns", "received_ns", "last_ns", "fragments",
                  "recovered", "transport"});
  strata::dds::Ways ways(engine.middleware().wire(), rows);
  for (const strata::dds::Way& way : ways.find(asked)) {
    found.add({way.since_ns, way.sent_ns, way.held_ns, way.received_ns, way.last_ns, way.fragments,
               way.recovered, way.transport});
  }
  return found.arrays();
}

nb::dict notifications_of(strata::Engine& engine) {
  Table<2> found({"sample", "thread"});
  const auto& samples = engine.rows().samples;
  const auto& notified = engine.middleware().wire().buffers().notified;
  for (size_t row = 0; row < notified.size(); ++row) {
    const int64_t sample = notified[row].sample;
    const bool known = sample >= 0 && static_cast<size_t>(sample) < samples.size();
    found.add({known ? int64_t{samples.sample[static_cast<size_t>(sample)]} : strata::kNone,
               int64_t{notified[row].thread}});
  }
  return found.arrays();
}
