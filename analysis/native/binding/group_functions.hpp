// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Sums and bounds of columns by group.
#pragma once

#include <nanobind/nanobind.h>

void add_group_functions(nanobind::module_& module);
