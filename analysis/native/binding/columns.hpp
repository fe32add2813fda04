// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Columns that Python passes to functions over columns, and what these return.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <utility>

#include "binding/arrays.hpp"
#include "layers/rows_by.hpp"
#include "storage/many.hpp"

using IntArray =
    nanobind::ndarray<const int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using FlagArray =
    nanobind::ndarray<const bool, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <size_t Count>
using IntArrays = std::array<IntArray, Count>;

inline strata::Ints span_of(const IntArray& array) { return {array.data(), array.size()}; }
// Bytes of NumPy's flags are 0 or 1.
inline strata::Flags span_of(const FlagArray& array) {
  return {reinterpret_cast<const uint8_t*>(array.data()), array.size()};
}

inline nanobind::object moved(strata::Many<int64_t>&& values) {
  return as_array_of<int64_t>(std::move(values));
}
inline nanobind::object moved_flags(strata::Many<uint8_t>&& values) {
  return as_array_of<bool>(std::move(values));
}
inline nanobind::object moved_bytes(strata::Many<uint8_t>&& values) {
  return as_array_of<uint8_t>(std::move(values));
}
