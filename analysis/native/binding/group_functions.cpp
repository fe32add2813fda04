// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/group_functions.hpp"

#include <nanobind/ndarray.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "binding/arrays.hpp"

namespace nb = nanobind;

namespace {

using Array = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bounds = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object sums_by(const Array& group, const Array& values, size_t count) {
  if (group.size() != values.size()) throw nb::value_error("values of another length");
  std::vector<int64_t> sums(count, 0);
  {
    const nb::gil_scoped_release unlocked;
    for (size_t row = 0; row < group.size(); ++row) {
      const auto number = static_cast<uint64_t>(group(row));
      if (number >= count) continue;
      // Without undefined overflow.
      sums[number] = static_cast<int64_t>(static_cast<uint64_t>(sums[number]) +
                                          static_cast<uint64_t>(values(row)));
    }
  }
  return as_array(std::move(sums));
}

// The values of `bounds`, or better ones of their groups.
template <typename Better>
void bound_by(const Array& group, const Array& values, const Bounds& bounds, Better is_better) {
  if (group.size() != values.size()) throw nb::value_error("values of another length");
  const nb::gil_scoped_release unlocked;
  for (size_t row = 0; row < group.size(); ++row) {
    const auto number = static_cast<uint64_t>(group(row));
    if (number >= bounds.size()) continue;
    int64_t& bound = bounds(number);
    if (is_better(values(row), bound)) bound = values(row);
  }
}

}  // namespace

void add_group_functions(nb::module_& module) {
  module.def("sums_by", &sums_by, nb::arg("group").noconvert(), nb::arg("values").noconvert(),
             nb::arg("count"));
  module.def(
      "lower_by",
      [](const Array& group, const Array& values, const Bounds& bounds) {
        bound_by(group, values, bounds, std::less<>());
      },
      nb::arg("group").noconvert(), nb::arg("values").noconvert(), nb::arg("bounds").noconvert());
  module.def(
      "raise_by",
      [](const Array& group, const Array& values, const Bounds& bounds) {
        bound_by(group, values, bounds, std::greater<>());
      },
      nb::arg("group").noconvert(), nb::arg("values").noconvert(), nb::arg("bounds").noconvert());
}
