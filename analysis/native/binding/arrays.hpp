// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Columns as NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "model/column.hpp"
#include "storage/blocks.hpp"
#include "storage/many.hpp"

// Values as an array of some type of their size. Many lie in a block, as what Python keeps counts
// among what is to be within the bound of memory.
template <typename Shown, typename T>
nanobind::object as_array_of(std::vector<T>&& values) {
  static_assert(sizeof(Shown) == sizeof(T));
  using Array = nanobind::ndarray<nanobind::numpy, Shown, nanobind::ndim<1>>;
  const size_t size = values.size(), bytes = size * sizeof(T);
  if (bytes >= strata::storage::kLeastBytes) {
    void* block = strata::storage::Blocks::shared().allocate(bytes, false);
    if (block == nullptr) throw std::bad_alloc();
    std::memcpy(block, values.data(), bytes);
    std::vector<T>().swap(values);
    nanobind::capsule owner(block,
                            [](void* p) noexcept { strata::storage::Blocks::shared().free(p); });
    return nanobind::cast(Array(static_cast<Shown*>(block), {size}, owner));
  }
  auto* kept = new std::vector<T>(std::move(values));
  nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::cast(Array(reinterpret_cast<Shown*>(kept->data()), {size}, owner));
}

// As above; nothing is copied.
template <typename Shown, typename T>
nanobind::object as_array_of(strata::Many<T>&& values) {
  static_assert(sizeof(Shown) == sizeof(T));
  auto* kept = new strata::Many<T>(std::move(values));
  nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<strata::Many<T>*>(p); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, Shown, nanobind::ndim<1>>(
      reinterpret_cast<Shown*>(kept->data()), {kept->size()}, owner));
}

template <typename T>
nanobind::object as_array(strata::Many<T>&& values) {
  return as_array_of<T>(std::move(values));
}

template <typename T>
nanobind::object as_array(std::vector<T> values) {
  return as_array_of<T>(std::move(values));
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
