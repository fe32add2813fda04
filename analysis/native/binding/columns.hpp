// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Columns that Python passes to functions over columns, and what these return.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "layers/rows_by.hpp"

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

template <typename Shown, typename T>
nanobind::object moved_array(std::vector<T>&& values) {
  static_assert(sizeof(Shown) == sizeof(T));
  auto* kept = new std::vector<T>(std::move(values));
  nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, Shown, nanobind::ndim<1>>(
      reinterpret_cast<Shown*>(kept->data()), {kept->size()}, owner));
}
inline nanobind::object moved(std::vector<int64_t>&& values) {
  return moved_array<int64_t>(std::move(values));
}
inline nanobind::object moved_flags(std::vector<uint8_t>&& values) {
  return moved_array<bool>(std::move(values));
}
inline nanobind::object moved_bytes(std::vector<uint8_t>&& values) {
  return moved_array<uint8_t>(std::move(values));
}
