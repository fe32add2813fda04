// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What threads and executors did, for tests and tables.
#pragma once

#include <nanobind/nanobind.h>

#include "model/engine.hpp"

// All waits by thread and time: {column: array}.
nanobind::dict waits_of(const strata::Engine& engine, size_t threads);
