// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Functions over columns of messages' layers, as Python calls them.
#pragma once

#include <nanobind/nanobind.h>

void add_layer_functions(nanobind::module_& module);
