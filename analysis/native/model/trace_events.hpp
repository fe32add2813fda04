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
#include "model/intake.hpp"

namespace strata {

class TraceEvents : public ctf::Merge {
 public:
  // `traces` and `engine` must live as long. `latest_by`: how late an event comes at most, as an
  // earlier reading found. From one on that comes later than that, events are read and counted
  // only. `announced`: what was there before, as another session recorded it. Events before
  // `begin_ns` and after `last_ns` are left out.
  TraceEvents(const ctf::TraceSet& traces, Engine& engine, int64_t latest_by = 0,
              std::span<const Arrival> announced = {}, int64_t begin_ns = INT64_MIN,
              int64_t last_ns = INT64_MAX);

  // Pushes up to so many events; false when there are no more. Throws std::system_error when a file
  // cannot be read.
  bool push(uint64_t events);

  uint64_t events() const { return events_; }
  // How late an event, or a step of an operation, came at most, in ns; 0 where none was later than
  // it may be without that this is known.
  int64_t too_late_by() { return std::max(latest_by(), intake_ ? intake_->too_late_by() : 0); }

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
  // A whole number of an event in its machine's byte order, by far the most of what is read: of
  // eight bytes those that are its own.
  struct Number {
    uint64_t mask;
    uint64_t sign;  // the bit of a signed one that says so; 0 of others
    uint32_t offset;
    uint16_t segment;
    uint16_t into;  // offset of an int64_t in the arrival
  };
  // The name of a thread, of so many bytes.
  struct Name {
    static constexpr size_t kLeast = 16, kMost = 24;
    uint32_t segment = 0;
    uint32_t offset = 0;
    uint32_t size = 0;  // 0: there is none, or it is among the loads
    ctf::Encoding encoding{};
  };
  struct EventPlan : ctf::Plan {
    EventType kind = EventType::other;
    int64_t text = kNone;         // number of the event's name, where it is not declared
    std::vector<Load> loads;      // what neither `numbers` nor `name` read
    std::vector<Number> numbers;  // of a program
    std::vector<uint8_t> others;  // fields that `numbers` do not read
    Name name;
    uint16_t present = 0;  // fields that `numbers` read
  };
  struct Capture;
  // Names that were met last, by thread.
  struct RecentName {
    std::array<uint64_t, Name::kMost / 8> words{};  // they may overlap
    uint32_t size = 0;
    ctf::Encoding encoding{};
    int32_t number = -1;
  };

  void make_plan(const ctf::EventClassRef& event);
  void add_loads(EventPlan& plan, ctf::Scope scope, const ctf::FieldClass* root);
  static void split_numbers(EventPlan& plan);
  static void split_name(EventPlan& plan);
  static Source source_of(const ctf::FieldClass& type, FieldKind wanted, ctf::Scope scope);
  static void read_numbers(Arrival& arrival, const EventPlan& plan,
                           const ctf::StreamCursor& cursor);
  void fill(Arrival& arrival, const EventPlan& plan, const ctf::StreamCursor& cursor);
  void fill_generally(Arrival& arrival, const EventPlan& plan, ctf::StreamCursor& cursor);
  void set_captured(Arrival& arrival, const Load& load, const Capture& capture);
  void set(Arrival& arrival, const Load& load, int64_t value) const;
  int64_t value_of(const EventPlan& plan, const Load& load, const ctf::StreamCursor& cursor);
  int64_t text(std::span<const uint8_t> bytes, ctf::Encoding encoding);
  int32_t name(const Arrival& arrival, const Name& name, const ctf::StreamCursor& cursor);
  int64_t host(int32_t code);

  Engine& engine_;
  std::optional<Intake> intake_;  // null: all are in order, and none has steps
  int64_t allowed_ = 0;           // how late events may come
  std::deque<EventPlan> plans_;
  std::vector<int64_t> host_text_;  // number of the text of each host; kNone: not met yet
  std::array<RecentName, 256> recent_;
  std::array<RecentName, 64> recent_texts_;  // that came last, by what they begin and end with
  uint64_t events_ = 0;
  uint64_t left_ = 0;
};

}  // namespace strata
