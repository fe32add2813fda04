// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "columns/column.hpp"

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

}  // extern "C"

namespace ctf {

// Columns as a struct array: a record batch. `owner` lives until the consumer releases the array;
// nothing is copied.
void export_schema(const std::vector<ColumnType>& types, ArrowSchema* out);
void export_array(const std::vector<Column>& columns, int64_t rows,
                  std::shared_ptr<const void> owner, ArrowArray* out);

}  // namespace ctf
