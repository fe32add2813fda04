// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The traces that both modules see: one opens them, the other analyzes them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "decode/extract.hpp"
#include "decode/trace_set.hpp"

namespace binding {

namespace nb = nanobind;

inline nb::object text(const std::string& bytes) {
  return nb::steal(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

struct Metadata {
  std::shared_ptr<ctf::Layout> layout;
};

class Traces {
 public:
  void add(const Metadata& metadata, const std::string& host, const std::vector<nb::bytes>& files) {
    require_not_indexed();
    std::vector<std::string> paths;
    for (const auto& file : files) paths.emplace_back(file.c_str(), file.size());
    set_.add({host, metadata.layout}, paths);
  }

  void index() {
    require_not_indexed();
    indexed_ = true;
    const nb::gil_scoped_release unlocked;
    set_.index();
  }

  const ctf::TraceSet& set() const { return set_; }

  // (source, event name, [(scope, member, field name)]) of every event class.
  nb::list event_classes() const {
    nb::list found;
    for (const auto& event : set_.event_classes()) {
      nb::list columns;
      add_fields(columns, "common", event.stream->event_context.get());
      add_fields(columns, "specific", event.event->context.get());
      add_fields(columns, "packet", event.stream->packet_context.get());
      add_fields(columns, "payload", event.event->payload.get());
      found.append(nb::make_tuple(event.source, text(event.event->name), columns));
    }
    return found;
  }

  using Packets = std::vector<ctf::Packet> ctf::Stream::*;

  // A column of all packets, stream after stream, as a NumPy array that owns its memory.
  template <typename Get>
  auto packet_column(Packets which, Get get) const {
    std::vector<int64_t> values;
    for (size_t i = 0; i < set_.streams().size(); ++i) {
      for (const auto& packet : set_.streams()[i].*which) values.push_back(get(i, packet));
    }
    auto* kept = new std::vector<int64_t>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<int64_t>*>(p); });
    return nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
  }

  nb::dict packets() const { return columns_of(&ctf::Stream::packets); }
  nb::dict missing_packets() const { return columns_of(&ctf::Stream::missing); }

  nb::dict columns_of(Packets which) const {
    const auto nanoseconds = [this](const ctf::Packet& packet, uint64_t cycles) -> int64_t {
      const int clock = packet.stream->clock;
      if (clock < 0 || cycles == ctf::Packet::kNone) return INT64_MIN;
      const auto& layout = *set_.sources()[set_.source_of(packet)].layout;
      return ctf::ClockConverter(layout.clocks[static_cast<size_t>(clock)]).nanoseconds(cycles);
    };
    using ctf::Packet;
    nb::dict found;
    found["stream"] = packet_column(which, [](size_t i, const Packet&) { return int64_t(i); });
    found["file"] = packet_column(which, [](size_t, const Packet& p) { return int64_t(p.file); });
    found["offset"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.offset); });
    found["bytes"] = packet_column(which, [](size_t, const Packet& p) { return int64_t(p.bytes); });
    found["content_bits"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.content_bits); });
    found["events_at"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.events_at); });
    found["begin_ns"] =
        packet_column(which, [&](size_t, const Packet& p) { return nanoseconds(p, p.begin); });
    found["end_ns"] =
        packet_column(which, [&](size_t, const Packet& p) { return nanoseconds(p, p.end); });
    found["sequence"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.sequence); });
    found["discarded"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.discarded); });
    found["sequence_bits"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.sequence_size); });
    found["discarded_bits"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.discarded_size); });
    found["instance"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.instance); });
    return found;
  }

  // (host, ns since the epoch): when the clocks began that such events have; of those that count
  // nanoseconds.
  nb::list clock_origins(const std::vector<std::string>& events) const {
    std::set<std::pair<std::string, int64_t>> origins;
    for (const auto& event : set_.event_classes()) {
      const ctf::Source& source = set_.sources()[event.source];
      if (event.stream->clock < 0 || std::ranges::find(events, event.event->name) == events.end()) {
        continue;
      }
      const ctf::ClockConverter clock(
          source.layout->clocks[static_cast<size_t>(event.stream->clock)]);
      if (clock.counts_ns()) origins.emplace(source.label, clock.nanoseconds(0));
    }
    nb::list found;
    for (const auto& [host, ns] : origins) found.append(nb::make_tuple(text(host), ns));
    return found;
  }

  // (event class, row of packets(), cycles, bytes, field bounds) of every wanted event.
  nb::list extract(const std::vector<bool>& wanted) const {
    if (wanted.size() != set_.event_classes().size()) {
      throw nb::value_error("one answer for every event class");
    }
    std::vector<ctf::ExtractedEvent> events;
    {
      const nb::gil_scoped_release unlocked;
      events = ctf::extract_events(set_, wanted);
    }
    std::vector<size_t> first_rows = {0};
    for (const auto& stream : set_.streams()) {
      first_rows.push_back(first_rows.back() + stream.packets.size());
    }
    nb::list found;
    for (const auto& event : events) {
      found.append(nb::make_tuple(event.event_class, first_rows[event.stream] + event.packet,
                                  event.cycles, nb::bytes(event.bytes.data(), event.bytes.size()),
                                  event.fields));
    }
    return found;
  }

  nb::list files() const {
    nb::list found;
    for (const auto& file : set_.files()) {
      const nb::bytes path(file.path.data(), file.path.size());
      found.append(nb::make_tuple(path, file.bytes, file.source));
    }
    return found;
  }

  nb::list damage() const { return damage_list(set_.damage()); }
  // (file, why its index is no witness)
  nb::list index_faults() const {
    nb::list found;
    for (const auto& item : set_.index_faults()) {
      found.append(nb::make_tuple(item.file, item.reason));
    }
    return found;
  }

  // (file, how many of its packet headers were mended)
  nb::list mended_headers() const {
    nb::list found;
    for (const auto& item : set_.mended()) found.append(nb::make_tuple(item.file, item.packets));
    return found;
  }

  uint64_t duplicate_packets() const { return set_.duplicate_packets(); }

  static nb::list damage_list(const std::vector<ctf::Damage>& damage) {
    nb::list found;
    for (const auto& item : damage) {
      found.append(nb::make_tuple(item.file, item.offset, item.bytes, item.truncated, item.reason));
    }
    return found;
  }

 private:
  static void add_fields(nb::list& columns, const char* scope, const ctf::FieldClass* root) {
    if (root == nullptr) return;
    // What a packet says of itself is no column of its events.
    for (size_t i = 0; i < root->members.size(); ++i) {
      if (scope == std::string("packet") && root->members[i].field->roles != 0) continue;
      columns.append(nb::make_tuple(scope, i, text(root->members[i].name)));
    }
  }

  // Readers point into what was indexed.
  void require_not_indexed() const {
    if (indexed_) throw std::logic_error("the traces are indexed already");
  }

  ctf::TraceSet set_;
  bool indexed_ = false;
};

}  // namespace binding
