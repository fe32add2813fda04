// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Clocks of what executors did, asked of whole columns by Python.
#pragma once

#include <nanobind/nanobind.h>

void add_clock_classes(nanobind::module_& module);
