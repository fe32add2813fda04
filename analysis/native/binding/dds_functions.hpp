// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What Python asks of the middleware, once the engine is finished.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>

#include "model/engine.hpp"

using MessageColumn =
    nanobind::ndarray<const int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// What was sent and what arrived of every sample: {table: {column: array}}
nanobind::dict transmissions_of(strata::Engine& engine);

// The way of each message: {column: array}. `messages` are columns of strata::dds::Message.
nanobind::dict ways_of(strata::Engine& engine, const std::array<MessageColumn, 8>& messages);

// What readers were told of: {column: array}
nanobind::dict notifications_of(strata::Engine& engine);
