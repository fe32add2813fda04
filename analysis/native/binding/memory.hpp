// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Where large arrays of NumPy lie: in blocks (storage/blocks.hpp), while Python asks for it.
#pragma once

#include <nanobind/nanobind.h>

void add_memory(nanobind::module_& module);
