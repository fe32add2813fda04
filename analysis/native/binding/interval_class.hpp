// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Intervals of threads, as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

void add_interval_class(nanobind::module_& module);
