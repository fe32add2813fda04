// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Functions over columns of what connects messages, as Python calls them.
#pragma once

#include <nanobind/nanobind.h>

void add_message_functions(nanobind::module_& module);
