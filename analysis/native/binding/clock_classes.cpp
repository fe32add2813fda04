// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/clock_classes.hpp"

#include <array>
#include <unordered_map>
#include <vector>

#include "binding/columns.hpp"
#include "model/clock_readings.hpp"

namespace nb = nanobind;

namespace {

using strata::Clock;
using strata::Ints;
using strata::LaneReading;
using strata::Overlap;

// What is asked of one lane is mostly in order of time.
class Lanes {
 public:
  explicit Lanes(const Clock& clock) : clock_(clock) {}

  LaneReading& of(int64_t lane) {
    const bool is_near = lane >= 0 && lane < kNear;
    if (is_near && near_[static_cast<size_t>(lane)] != nullptr) {
      return *near_[static_cast<size_t>(lane)];
    }
    LaneReading& found = lanes_.try_emplace(lane, clock_, lane).first->second;
    if (is_near) near_[static_cast<size_t>(lane)] = &found;
    return found;
  }

 private:
  static constexpr int64_t kNear = 256;

  const Clock& clock_;
  std::unordered_map<int64_t, LaneReading> lanes_;
  std::array<LaneReading*, kNear> near_{};  // of lanes with small numbers
};

// The value of each row of columns of one length.
template <typename T, typename Value>
strata::Many<T> by_row(std::initializer_list<Ints> columns, Value&& value) {
  const std::vector<Ints> all(columns);
  strata::require_one_length(all);
  strata::Many<T> values(all.front().size());
  const nb::gil_scoped_release unlocked;
  for (size_t row = 0; row < values.size(); ++row) values[row] = value(row);
  return values;
}

nb::object known(const Clock& clock, const IntArray& lanes) {
  const Ints lane = span_of(lanes);
  return moved_flags(
      by_row<uint8_t>({lane}, [&](size_t row) { return clock.knows(lane[row]) ? 1 : 0; }));
}

nb::object within(const Clock& clock, const IntArray& lanes, const IntArray& begins,
                  const IntArray& ends) {
  const Ints lane = span_of(lanes), begin_ns = span_of(begins), end_ns = span_of(ends);
  Lanes readings(clock);
  return moved(by_row<int64_t>({lane, begin_ns, end_ns}, [&](size_t row) {
    return readings.of(lane[row]).within(begin_ns[row], end_ns[row]);
  }));
}

nb::object last_end(const Clock& clock, const IntArray& lanes, const IntArray& instants) {
  const Ints lane = span_of(lanes), at_ns = span_of(instants);
  Lanes readings(clock);
  return moved(by_row<int64_t>(
      {lane, at_ns}, [&](size_t row) { return readings.of(lane[row]).last_end(at_ns[row]); }));
}

template <typename Value>
nb::object column(const Clock& clock, Value&& value) {
  strata::Many<int64_t> values(clock.size());
  for (size_t row = 0; row < values.size(); ++row) values[row] = value(row);
  return moved(std::move(values));
}

nb::object within_both(const Overlap& both, const IntArray& outers, const IntArray& inners,
                       const IntArray& begins, const IntArray& ends) {
  const Ints outer = span_of(outers), inner = span_of(inners);
  const Ints begin_ns = span_of(begins), end_ns = span_of(ends);
  return moved(by_row<int64_t>({outer, inner, begin_ns, end_ns}, [&](size_t row) {
    return both.within(outer[row], inner[row], begin_ns[row], end_ns[row]);
  }));
}

}  // namespace

void add_clock_classes(nb::module_& module) {
  nb::class_<Clock>(module, "Clock")
      .def(
          "__init__",
          [](Clock* made, const IntArray& lane, const IntArray& start_ns, const IntArray& end_ns) {
            const nb::gil_scoped_release unlocked;
            new (made) Clock({span_of(lane), span_of(start_ns), span_of(end_ns)});
          },
          nb::arg("lane"), nb::arg("start_ns"), nb::arg("end_ns"))
      .def_prop_ro("lane",
                   [](const Clock& clock) {
                     return column(clock, [&](size_t row) { return clock.lane(row); });
                   })
      .def_prop_ro("start_ns",
                   [](const Clock& clock) {
                     return column(clock, [&](size_t row) { return clock.start_ns(row); });
                   })
      .def_prop_ro("end_ns",
                   [](const Clock& clock) {
                     return column(clock, [&](size_t row) { return clock.end_ns(row); });
                   })
      .def("known", &known, nb::arg("lane"))
      .def("within", &within, nb::arg("lane"), nb::arg("begin_ns"), nb::arg("end_ns"))
      .def("last_end", &last_end, nb::arg("lane"), nb::arg("at_ns"));
  nb::class_<Overlap>(module, "Overlap")
      .def(
          "__init__",
          [](Overlap* made, const Clock& outer, const Clock& inner, const IntArray& inner_of) {
            const nb::gil_scoped_release unlocked;
            new (made) Overlap(outer, inner, span_of(inner_of));
          },
          nb::arg("outer"), nb::arg("inner"), nb::arg("inner_of"), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>())
      .def("within", &within_both, nb::arg("outer"), nb::arg("inner"), nb::arg("begin_ns"),
           nb::arg("end_ns"));
}
