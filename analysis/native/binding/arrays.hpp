// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Columns as NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "model/column.hpp"

template <typename T>
nanobind::object as_array(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(
      kept->data(), {kept->size()}, owner));
}

template <typename T>
nanobind::object as_array(const strata::Column<T>& column) {
  return as_array(std::vector<T>(column.data(), column.data() + column.size()));
}

template <typename T>
nanobind::object as_array(strata::Column<T>&& column) {
  auto* kept = new strata::Column<T>(std::move(column));
  nanobind::capsule owner(kept,
                          [](void* p) noexcept { delete static_cast<strata::Column<T>*>(p); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(
      kept->data(), {kept->size()}, owner));
}

// The values of a column themselves, which `owner` keeps and nobody changes any more.
template <typename T>
nanobind::object view_of(const strata::Column<T>& column, nanobind::handle owner) {
  static const T kNothing{};
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>>(
      column.empty() ? &kNothing : column.data(), {column.size()}, owner));
}
