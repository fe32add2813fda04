// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/layer_functions.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "binding/arrays.hpp"
#include "model/blockers.hpp"
#include "model/cpu_waits.hpp"
#include "model/layer_times.hpp"
#include "model/layers/cut.hpp"
#include "model/stretches.hpp"
#include "model/thread_cpu.hpp"

namespace nb = nanobind;

namespace {

using strata::Ints;
using Array = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <size_t Count>
using Columns = std::array<Array, Count>;

Ints span(const Array& array) { return {array.data(), array.size()}; }

template <size_t Count>
strata::Spans spans(const Columns<Count>& columns) {
  return {span(columns[0]), span(columns[1]), span(columns[2])};
}

strata::Stretches stretches(const Columns<7>& columns) {
  return {span(columns[0]), span(columns[1]), span(columns[2]), span(columns[3]),
          span(columns[4]), span(columns[5]), span(columns[6])};
}

template <typename... Vectors>
nb::tuple as_arrays(Vectors&&... columns) {
  return nb::make_tuple(as_array(std::forward<Vectors>(columns))...);
}

using Layer = std::tuple<int64_t, int64_t, Array, Array, Array, Array>;

nb::tuple cut_stretches(const std::vector<Layer>& layers, const Array& lane, const Array& group) {
  std::vector<strata::LayerColumns> columns;
  for (const auto& [layer, idle, thread, begin_ns, end_ns, duration_ns] : layers) {
    columns.push_back({layer, idle, span(thread), span(begin_ns), span(end_ns), span(duration_ns)});
  }
  strata::StretchRows rows;
  {
    const nb::gil_scoped_release unlocked;
    rows = strata::cut_stretches(columns, span(lane), span(group));
  }
  return as_arrays(std::move(rows.message), std::move(rows.layer), std::move(rows.thread),
                   std::move(rows.begin_ns), std::move(rows.end_ns), std::move(rows.lane),
                   std::move(rows.idle));
}

nb::list cut_layers(const Array& route, const Columns<strata::kCheckpoints>& instants) {
  strata::Instants columns;
  for (size_t i = 0; i < columns.size(); ++i) columns[i] = span(instants[i]);
  strata::LayerDurations durations;
  {
    const nb::gil_scoped_release unlocked;
    durations = strata::cut_layers(span(route), columns);
  }
  nb::list out;
  for (auto& column : durations) {
    out.append(column.empty() ? nb::none() : as_array(std::move(column)));
  }
  return out;
}

nb::tuple layer_times(const Columns<7>& of, const Columns<5>& states, const Columns<3>& waits,
                      const Array& lane_of) {
  std::array<std::vector<int64_t>, 4> spent;
  {
    const nb::gil_scoped_release unlocked;
    spent = strata::layer_times(stretches(of), {spans(states), span(states[3]), span(states[4])},
                                spans(waits), span(lane_of));
  }
  return as_arrays(std::move(spent[0]), std::move(spent[1]), std::move(spent[2]),
                   std::move(spent[3]));
}

nb::tuple preemptions(const Columns<7>& of, const Columns<5>& states, const Columns<5>& occupancy,
                      const Columns<3>& waits, const Columns<3>& callbacks, const Array& lane_of) {
  strata::Preemptions rows;
  {
    const nb::gil_scoped_release unlocked;
    const strata::Occupations did(spans(waits), spans(callbacks), span(lane_of));
    rows = strata::preemptions(stretches(of), {spans(states), span(states[3]), span(states[4])},
                               {spans(occupancy), span(occupancy[3]), span(occupancy[4])}, did);
  }
  return as_arrays(std::move(rows.message), std::move(rows.layer), std::move(rows.tid),
                   std::move(rows.name), std::move(rows.duration_ns));
}

nb::tuple cpu_waits(const Columns<7>& of, const Columns<5>& windows, const Columns<3>& waits,
                    const Columns<3>& callbacks, const Columns<3>& thread_waits,
                    const Array& lane_of) {
  strata::CpuWaits rows;
  {
    const nb::gil_scoped_release unlocked;
    const strata::Occupations did(spans(waits), spans(callbacks), span(lane_of));
    const strata::SampleWindows own =
        strata::separate({spans(windows), span(windows[3]), span(windows[4])});
    rows = strata::cpu_waits(stretches(of), own, did, spans(callbacks), spans(thread_waits));
  }
  return as_arrays(std::move(rows.message), std::move(rows.layer), std::move(rows.thread),
                   std::move(rows.about_ns), std::move(rows.least_ns), std::move(rows.most_ns));
}

nb::tuple find_blockers(const Columns<5>& messages, const Columns<5>& work, const Columns<4>& runs,
                        const strata::Clock& waits, const strata::Clock& running,
                        const strata::Overlap& both) {
  strata::BlockerRows rows;
  {
    const nb::gil_scoped_release unlocked;
    rows = strata::find_blockers(
        {span(messages[0]), span(messages[1]), span(messages[2]), span(messages[3]),
         span(messages[4])},
        {span(work[0]), span(work[1]), span(work[2]), span(work[3]), span(work[4])},
        {{span(runs[0]), span(runs[1]), span(runs[2])}, span(runs[3])}, {waits, running, both});
  }
  return as_arrays(std::move(rows.message), std::move(rows.callback), std::move(rows.is_take),
                   std::move(rows.duration_ns));
}

nb::tuple sums_as_arrays(strata::ThreadSums&& rows) {
  return as_arrays(std::move(rows.thread), std::move(rows.begin_ns), std::move(rows.end_ns),
                   std::move(rows.on_cpu_ns), std::move(rows.cpu_wait_ns), std::move(rows.slices),
                   std::move(rows.longest_wait_ns), std::move(rows.traffic_on_cpu_ns),
                   std::move(rows.traffic_cpu_wait_ns));
}

nb::tuple sample_windows(const Columns<6>& samples, const Array& sampled_ns) {
  strata::ThreadWindows rows =
      strata::sample_windows({span(samples[0]), span(samples[1]), span(samples[2]),
                              span(samples[3]), span(samples[4]), span(samples[5])},
                             span(sampled_ns));
  return as_arrays(std::move(rows.thread), std::move(rows.begin_ns), std::move(rows.end_ns),
                   std::move(rows.cpu_ns), std::move(rows.wait_ns), std::move(rows.slices));
}

nb::tuple sum_windows(const Columns<6>& windows, const Array& first_ns, const Array& last_ns) {
  return sums_as_arrays(
      strata::sum_windows({spans(windows), span(windows[3]), span(windows[4]), span(windows[5])},
                          span(first_ns), span(last_ns)));
}

nb::tuple sum_states(const Columns<5>& states, const Array& first_ns, const Array& last_ns) {
  return sums_as_arrays(strata::sum_states({spans(states), span(states[3]), span(states[4])},
                                           span(first_ns), span(last_ns)));
}

}  // namespace

void add_layer_functions(nb::module_& module) {
  module.def("cut_layers", &cut_layers, nb::arg("route"), nb::arg("instants"));
  module.def("cut_stretches", &cut_stretches, nb::arg("layers"), nb::arg("lane"), nb::arg("group"));
  module.def("layer_times", &layer_times, nb::arg("stretches"), nb::arg("states"), nb::arg("waits"),
             nb::arg("lane_of"));
  module.def("preemptions", &preemptions, nb::arg("stretches"), nb::arg("states"),
             nb::arg("occupancy"), nb::arg("waits"), nb::arg("callbacks"), nb::arg("lane_of"));
  module.def("cpu_waits", &cpu_waits, nb::arg("stretches"), nb::arg("windows"), nb::arg("waits"),
             nb::arg("callbacks"), nb::arg("thread_waits"), nb::arg("lane_of"));
  module.def("find_blockers", &find_blockers, nb::arg("messages"), nb::arg("work"), nb::arg("runs"),
             nb::arg("waits"), nb::arg("running"), nb::arg("both"));
  module.def("sample_windows", &sample_windows, nb::arg("samples"), nb::arg("sampled_ns"));
  module.def("sum_windows", &sum_windows, nb::arg("windows"), nb::arg("first_ns"),
             nb::arg("last_ns"));
  module.def("sum_states", &sum_states, nb::arg("states"), nb::arg("first_ns"), nb::arg("last_ns"));
}
