// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/memory.hpp"

#include <nanobind/stl/string.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "storage/blocks.hpp"

namespace nb = nanobind;

namespace {

using strata::storage::Blocks;
using strata::storage::kLeastBytes;

bool is_block(const void* data) {
  const bool may_be = reinterpret_cast<uintptr_t>(data) % strata::storage::kPieceBytes == 0;
  return may_be && data != nullptr && Blocks::shared().owns(data);
}

void* allocate(void*, size_t bytes) {
  return bytes < kLeastBytes ? std::malloc(bytes == 0 ? 1 : bytes)
                             : Blocks::shared().allocate(bytes, false);
}

void* allocate_zeros(void*, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  return bytes < kLeastBytes ? std::calloc(bytes == 0 ? 1 : bytes, 1)
                             : Blocks::shared().allocate(bytes, true);
}

void* resize(void*, void* data, size_t bytes) {
  if (is_block(data)) return Blocks::shared().resize(data, bytes);
  // What malloc gave stays with it, however large it grows.
  return std::realloc(data, bytes == 0 ? 1 : bytes);
}

void release(void*, void* data, size_t) {
  if (is_block(data)) {
    Blocks::shared().free(data);
  } else {
    std::free(data);
  }
}

PyDataMem_Handler blocks_handler = {
    "strata_blocks", 1, {nullptr, allocate, allocate_zeros, resize, release}};

// Lets large arrays that this context makes from now on lie in blocks; returns what made them
// before.
nb::object use_blocks() {
  const nb::capsule handler(&blocks_handler, "mem_handler");
  return nb::steal(PyDataMem_SetHandler(handler.ptr()));
}

void use(const nb::object& handler) {
  const nb::object before = nb::steal(PyDataMem_SetHandler(handler.ptr()));
  if (!before.is_valid()) throw nb::python_error();
}

void set_memory(size_t size, const std::string& directory) {
  Blocks::shared().set({size, directory});
}

nb::tuple memory_usage() {
  const auto usage = Blocks::shared().usage();
  return nb::make_tuple(usage.memory_bytes, usage.file_bytes, usage.spare_bytes, usage.error);
}

int import_numpy() {
  import_array1(-1);
  return 0;
}

}  // namespace

void add_memory(nb::module_& module) {
  if (import_numpy() != 0) throw nb::python_error();
  module.def("use_blocks", use_blocks);
  module.def("use_handler", use, nb::arg("handler"));
  module.def("set_memory", set_memory, nb::arg("size"), nb::arg("directory"));
  module.def("memory_usage", memory_usage);
}
