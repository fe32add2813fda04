// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What Python sees of grouped statistics; typed in src/strata/stats/_grouped.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "stats/dip.hpp"
#include "stats/groups.hpp"
#include "stats/summary.hpp"

namespace nb = nanobind;

namespace {

using strata::stats::Groups;
template <typename Value>
using Array = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Value>
std::span<const Value> span(const Array<Value>& array) {
  return {array.data(), array.size()};
}

template <typename Value>
nb::object as_array(std::vector<Value>&& values) {
  auto* kept = new std::vector<Value>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

template <typename Value>
strata::stats::Values<Value> column(const Array<Value>& values,
                                    const std::optional<Array<bool>>& there,
                                    std::optional<Value> absent) {
  if (!there) return {span(values), {}, absent};
  if (there->size() != values.size()) throw nb::value_error("flags of another length");
  return {span(values), span(*there), absent};
}

template <typename Value>
nb::dict summarize(const Groups& groups, const Array<Value>& values, const Array<double>& fractions,
                   const std::optional<Array<bool>>& there, std::optional<Value> absent) {
  strata::stats::Summary<Value> found;
  {
    const nb::gil_scoped_release unlocked;
    found = strata::stats::summarize<Value>(groups, column(values, there, absent), span(fractions));
  }
  nb::dict columns;
  columns["count"] = as_array(std::move(found.count));
  columns["sum"] = as_array(std::move(found.sum));
  columns["min"] = as_array(std::move(found.low));
  columns["max"] = as_array(std::move(found.high));
  columns["mean"] = as_array(std::move(found.mean));
  columns["std"] = as_array(std::move(found.deviation));
  columns["mad"] = as_array(std::move(found.mad));
  nb::list quantiles;
  for (auto& values_of : found.quantiles) quantiles.append(as_array(std::move(values_of)));
  columns["quantiles"] = quantiles;
  return columns;
}

template <typename Value>
nb::tuple ascending(const Groups& groups, const Array<Value>& values,
                    const std::optional<Array<bool>>& there, std::optional<Value> absent) {
  std::vector<Value> ordered;
  std::vector<int64_t> sizes;
  {
    const nb::gil_scoped_release unlocked;
    ordered = strata::stats::ascending<Value>(groups, column(values, there, absent), sizes);
  }
  return nb::make_tuple(as_array(std::move(ordered)), as_array(std::move(sizes)));
}

nb::object convex_contacts(const Array<double>& places, const Array<int64_t>& heights) {
  if (places.size() != heights.size()) throw nb::value_error("heights of another length");
  std::vector<int64_t> touching;
  {
    const nb::gil_scoped_release unlocked;
    touching = strata::stats::convex_contacts(span(places), span(heights));
  }
  return as_array(std::move(touching));
}

template <typename Value>
void add_functions(nb::class_<Groups>& type) {
  type.def("summarize", &summarize<Value>, nb::arg("values").noconvert(), nb::arg("fractions"),
           nb::arg("there") = nb::none(), nb::arg("absent") = nb::none());
  type.def("ascending", &ascending<Value>, nb::arg("values").noconvert(),
           nb::arg("there") = nb::none(), nb::arg("absent") = nb::none());
}

}  // namespace

NB_MODULE(_grouped, module) {
  nb::class_<Groups> groups(module, "Groups");
  groups
      .def(
          "__init__",
          [](Groups* self, const Array<int64_t>& codes, size_t count) {
            const nb::gil_scoped_release unlocked;
            new (self) Groups(span(codes), count);
          },
          nb::arg("codes").noconvert(), nb::arg("count"))
      .def_static("one", &Groups::one, nb::arg("rows"))
      .def("__len__", &Groups::count)
      .def_prop_ro("sizes",
                   [](const Groups& self) {
                     std::vector<int64_t> sizes(self.count());
                     for (size_t i = 0; i < sizes.size(); ++i) {
                       sizes[i] = static_cast<int64_t>(self.size(i));
                     }
                     return as_array(std::move(sizes));
                   })
      .def_prop_ro("rows", [](const Groups& self) {
        size_t all = 0;
        for (size_t i = 0; i < self.count(); ++i) all += self.size(i);
        std::vector<int64_t> rows(all);
        self.copy_rows(rows.data());
        return as_array(std::move(rows));
      });
  module.def("convex_contacts", &convex_contacts, nb::arg("places").noconvert(),
             nb::arg("heights").noconvert());
  add_functions<int64_t>(groups);
  add_functions<double>(groups);
}
