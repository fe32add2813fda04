// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Events from the streams of a trace, one by one, with no tables in between.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/merge.hpp"
#include "model/engine.hpp"
#include "model/late_events.hpp"

namespace strata {

class TraceEvents : public ctf::Merge {
 public:
  // `traces` and `engine` must live as long. `latest_by`: how late an event comes at most, as an
  // earlier reading found. From one on that comes later than that, events are read and counted
  // only.
  TraceEvents(const ctf::TraceSet& traces, Engine& engine, int64_t latest_by = 0);

  // Pushes up to so many events; false when there are no more. Throws std::system_error when a file
  // cannot be read.
  bool push(uint64_t events);

  uint64_t events() const { return events_; }
  // Events that are not declared, by name; a name may be there several times.
  std::vector<std::pair<std::string_view, uint64_t>> undeclared() const;

 protected:
  bool take(ctf::StreamCursor& cursor) override;

 private:
  // What a value of a trace is to its event.
  enum class Target : uint8_t { field, vpid, vtid, pid_ns, procname, cpu };
  // `misfit`: of another kind than its event's field; it counts as null.
  enum class Source : uint8_t { number, text, bytes, list, packet, misfit };
  struct Load {
    Target target;
    uint8_t field = 0;  // of Target::field
    Source source;
    ctf::Scope scope;
    uint32_t member = 0;
    uint32_t segment = 0;
    uint32_t offset = 0;
    const ctf::FieldClass* type = nullptr;
  };
  // A whole number of an event in its machine's byte order, by far the most of what is read.
  enum class Width : uint8_t { u8, u16, u32, u64, s8, s16, s32 };
  struct Number {
    uint32_t segment;
    uint32_t offset;
    Width width;
    uint16_t into;  // offset of an int64_t in the arrival
  };
  struct EventPlan : ctf::Plan {
    EventType kind = EventType::other;
    uint64_t events = 0;
    bool is_of_program = true;
    std::vector<Load> loads;      // what `numbers` do not read
    std::vector<Number> numbers;  // of a program
    uint16_t present = 0;         // fields that `numbers` read
  };
  struct Capture;
  // Texts of 8 to 24 bytes that were met last; names of threads have 17.
  struct Recent {
    std::array<uint8_t, 24> bytes;
    size_t size = SIZE_MAX;
    ctf::Encoding encoding{};
    int64_t number = kNone;
  };

  void make_plan(const ctf::EventClassRef& event);
  void add_loads(EventPlan& plan, ctf::Scope scope, const ctf::FieldClass* root);
  static void split_numbers(EventPlan& plan);
  static Source source_of(const ctf::FieldClass& type, FieldKind wanted, ctf::Scope scope);
  static void read_numbers(Arrival& arrival, const EventPlan& plan,
                           const ctf::StreamCursor& cursor);
  void fill(Arrival& arrival, const EventPlan& plan, const ctf::StreamCursor& cursor);
  void fill_generally(Arrival& arrival, const EventPlan& plan, ctf::StreamCursor& cursor);
  void set_captured(Arrival& arrival, const Load& load, const Capture& capture);
  void set(Arrival& arrival, const Load& load, int64_t value) const;
  int64_t value_of(const EventPlan& plan, const Load& load, const ctf::StreamCursor& cursor);
  int64_t text(std::span<const uint8_t> bytes, ctf::Encoding encoding);
  int64_t host(int32_t code);

  Engine& engine_;
  std::optional<LateEvents> late_;
  int64_t allowed_ = 0;  // how late events may come
  std::deque<EventPlan> plans_;
  std::vector<int64_t> host_text_;  // number of the text of each host; kNone: not met yet
  std::array<Recent, 64> recent_;
  uint64_t events_ = 0;
  uint64_t left_ = 0;
};

}  // namespace strata
