// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/group_functions.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
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

// Where values would stand among those of their group; entries are in order of group and value.
class Places {
 public:
  Places(std::span<const int64_t> groups, std::span<const int64_t> values)
      : groups_(groups), values_(values) {
    for (size_t i = 0; i < groups.size(); ++i) {
      if (i == 0 || groups[i] != groups[i - 1]) begins_.push_back(i);
    }
    near_ = begins_;
  }

  // How many entries come before a value of a group: those of lesser groups, and of its own those
  // that are less, or equal if `after_equal`.
  size_t find(int64_t group, int64_t value, bool after_equal) {
    const size_t number = number_of(group);
    const size_t begin = number < begins_.size() ? begins_[number] : groups_.size();
    if (begin == groups_.size() || groups_[begin] != group) return begin;
    const size_t end = number + 1 < begins_.size() ? begins_[number + 1] : groups_.size();
    const auto is_before = [&](size_t at) {
      return values_[at] < value || (after_equal && values_[at] == value);
    };
    // Values of a group are mostly asked for in their order: near the place that was found last.
    size_t low = near_[number], high = low;
    for (size_t step = 1; low > begin && !is_before(low - 1); step *= 2) {
      high = low - 1;
      low -= std::min(step, low - begin);
    }
    for (size_t step = 1; high < end && is_before(high); step *= 2) {
      low = high + 1;
      high = std::min(high + step, end);
    }
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (is_before(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return near_[number] = low;
  }

 private:
  // The number of the first group that is not less.
  size_t number_of(int64_t group) {
    const auto first_of = [this](size_t number) { return groups_[begins_[number]]; };
    const bool is_last = last_ < begins_.size() && first_of(last_) == group;
    if (is_last) return last_;
    size_t low = 0, high = begins_.size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (first_of(middle) < group) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return last_ = low;
  }

  std::span<const int64_t> groups_, values_;
  std::vector<size_t> begins_;  // of each group
  std::vector<size_t> near_;    // of each group: the place that was found last
  size_t last_ = 0;
};

nb::object places_of(const Array& groups, const Array& values, const Array& of, const Array& wanted,
                     bool after_equal) {
  if (groups.size() != values.size() || of.size() != wanted.size()) {
    throw nb::value_error("values of another length");
  }
  strata::Many<int64_t> found(wanted.size());
  {
    const nb::gil_scoped_release unlocked;
    Places places({groups.data(), groups.size()}, {values.data(), values.size()});
    for (size_t row = 0; row < found.size(); ++row) {
      found[row] = static_cast<int64_t>(places.find(of(row), wanted(row), after_equal));
    }
  }
  return as_array(std::move(found));
}

using AnyArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Calls `visit` with the values of an array of one of the types that columns have.
template <typename Visit>
void with_values(const AnyArray& array, Visit&& visit) {
  if (array.dtype() == nb::dtype<int64_t>()) {
    visit(std::span(static_cast<const int64_t*>(array.data()), array.size()));
  } else if (array.dtype() == nb::dtype<int32_t>()) {
    visit(std::span(static_cast<const int32_t*>(array.data()), array.size()));
  } else if (array.dtype() == nb::dtype<uint8_t>()) {
    visit(std::span(static_cast<const uint8_t*>(array.data()), array.size()));
  } else {
    throw nb::type_error("whole numbers of 64, 32 or 8 bits are wanted");
  }
}

void take_into(const Bounds& found, const AnyArray& values, const AnyArray& rows) {
  if (found.size() != rows.size()) throw nb::value_error("rows of another length");
  bool is_there = true;
  with_values(values, [&](auto from) {
    with_values(rows, [&](auto wanted) {
      const nb::gil_scoped_release unlocked;
      int64_t* out = found.data();
      for (size_t i = 0; i < wanted.size(); ++i) {
        const int64_t row = wanted[i];
        if (row >= 0 && static_cast<size_t>(row) < from.size()) {
          out[i] = from[static_cast<size_t>(row)];
        } else {
          is_there &= row == -1;
          out[i] = -1;
        }
      }
    });
  });
  if (!is_there) throw nb::index_error("a row that is not there");
}

}  // namespace

void add_group_functions(nb::module_& module) {
  module.def("places_of", &places_of, nb::arg("groups").noconvert(), nb::arg("values").noconvert(),
             nb::arg("of").noconvert(), nb::arg("wanted").noconvert(), nb::arg("after_equal"));
  module.def("take_into", &take_into, nb::arg("found").noconvert(), nb::arg("values").noconvert(),
             nb::arg("rows").noconvert());
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
