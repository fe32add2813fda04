// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/interval_class.hpp"

#include <utility>

#include "binding/columns.hpp"
#include "model/thread_intervals.hpp"

namespace nb = nanobind;

namespace {

using strata::Interval;
using strata::ThreadIntervals;

// A number of each thread.
template <typename Value>
nb::object by_thread(const ThreadIntervals& intervals, Value&& value) {
  strata::Many<int64_t> values(intervals.threads());
  for (size_t thread = 0; thread < values.size(); ++thread) values[thread] = value(thread);
  return moved(std::move(values));
}

nb::object count(const ThreadIntervals& intervals) {
  return by_thread(intervals,
                   [&](size_t thread) { return static_cast<int64_t>(intervals.count(thread)); });
}

nb::object total(const ThreadIntervals& intervals) {
  return by_thread(intervals, [&](size_t thread) { return intervals.length_ns(thread); });
}

nb::object first(const ThreadIntervals& intervals) {
  return by_thread(intervals, [&](size_t thread) { return intervals.first_ns(thread); });
}

nb::object last(const ThreadIntervals& intervals) {
  return by_thread(intervals, [&](size_t thread) { return intervals.last_ns(thread); });
}

nb::object total_within(const ThreadIntervals& intervals, const IntArray& begins,
                        const IntArray& ends) {
  if (begins.size() != intervals.threads() || ends.size() != intervals.threads()) {
    throw nb::value_error("one begin and one end a thread are wanted");
  }
  return by_thread(intervals, [&](size_t thread) {
    return intervals.within(thread, begins(thread), ends(thread));
  });
}

nb::tuple columns(const ThreadIntervals& intervals) {
  size_t size = 0;
  for (size_t thread = 0; thread < intervals.threads(); ++thread) size += intervals.count(thread);
  strata::Many<int64_t> of(size), start_ns(size), end_ns(size);
  size_t row = 0;
  for (size_t thread = 0; thread < intervals.threads(); ++thread) {
    intervals.each(thread, [&](const Interval& own) {
      of[row] = static_cast<int64_t>(thread);
      start_ns[row] = own.start_ns;
      end_ns[row++] = own.end_ns;
    });
  }
  return nb::make_tuple(moved(std::move(of)), moved(std::move(start_ns)), moved(std::move(end_ns)));
}

strata::Clock clock_of(const ThreadIntervals& intervals, const IntArray& lane_of) {
  const strata::Ints lanes = span_of(lane_of);
  if (lanes.size() != intervals.threads()) throw nb::value_error("one lane a thread is wanted");
  const nb::gil_scoped_release unlocked;
  return intervals.clock(lanes);
}

ThreadIntervals outside(const ThreadIntervals& intervals, const IntArray& thread,
                        const IntArray& start_ns, const IntArray& end_ns) {
  const nb::gil_scoped_release unlocked;
  return intervals.outside({span_of(thread), span_of(start_ns), span_of(end_ns)});
}

}  // namespace

void add_interval_class(nb::module_& module) {
  nb::class_<ThreadIntervals>(module, "ThreadIntervals")
      .def("count", &count)
      .def("total", &total)
      .def("first", &first)
      .def("last", &last)
      .def("total_within", &total_within, nb::arg("begin_ns"), nb::arg("end_ns"))
      .def("columns", &columns)
      .def("clock", &clock_of, nb::arg("lane_of"))
      .def("outside", &outside, nb::arg("thread"), nb::arg("start_ns"), nb::arg("end_ns"),
           nb::keep_alive<0, 1>());
}
