# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The header of the checkpoints, layers and routes of messages, from their declarations."""

from __future__ import annotations

from collections.abc import Iterable

from strata.schema.checkpoints import CHECKPOINTS, Checkpoint
from strata.schema.layer import Layer, Route
from strata.schema.layers import BASIC_LAYERS, HOP_LAYERS, ROUTES

# Checkpoints and layers are numbered in the order of these.
ROUTE_NUMBER: dict[Route, int] = {route: at for at, route in enumerate(ROUTES)}
_BIT = {layer: 1 << at for at, layer in enumerate(BASIC_LAYERS)}
_MOST = max(len(route.checkpoints) for route in ROUTES)


def layers_header() -> str:
    """Return the text of the header below its first lines."""
    points = "\n".join(f"  {point.name},  // {point.shown}" for point in CHECKPOINTS)
    layers = "\n".join(f"  {_name(layer)}," for layer in HOP_LAYERS)
    basic = "\n".join(f"    0x{_bits([layer]):04x},  // {layer.name}" for layer in HOP_LAYERS)
    routes = "\n".join(_route(route) for route in ROUTES)
    return f"""
#include <array>
#include <cstddef>
#include <cstdint>

namespace strata {{

// What parts the layers of a message, in the order in which it meets them.
enum class Checkpoint : uint8_t {{
{points}
}};

enum class Layer : uint8_t {{
{layers}
}};

inline constexpr size_t kCheckpoints = {len(CHECKPOINTS)};
inline constexpr size_t kLayers = {len(HOP_LAYERS)};
inline constexpr size_t kBasicLayers = {len(BASIC_LAYERS)};

// A bit for each layer that is not merged: which of them each layer is made of.
using BasicLayers = uint32_t;

inline constexpr std::array<BasicLayers, kLayers> kBasicOf = {{{{
{basic}
}}}};

// Checkpoints of a way of messages, and the layers between each two.
struct Route {{
  size_t count;
  std::array<Checkpoint, {_MOST}> checkpoints;
  std::array<BasicLayers, {_MOST - 1}> between;
  BasicLayers repeated;     // between several pairs of checkpoints
  BasicLayers merged_only;  // have time only as parts of merged layers
}};

inline constexpr std::array<Route, {len(ROUTES)}> kRoutes = {{{{
{routes}
}}}};

}}  // namespace strata
"""


def _name(layer: Layer) -> str:
    return layer.column.removesuffix("_ns")


def _bits(layers: Iterable[Layer]) -> int:
    return sum({_BIT[one] for layer in layers for one in layer.basic})


def _route(route: Route) -> str:
    of_all = [one for layer in route.layers for one in layer.basic]
    repeated = {one for one in of_all if of_all.count(one) > 1}
    points = ", ".join(_point(point) for point in route.checkpoints)
    between = ", ".join(f"0x{_bits([layer]):04x}" for layer in route.layers)
    return (
        f"    {{{len(route.checkpoints)},  // {route.name}\n"
        f"     {{{{{points}}}}},\n"
        f"     {{{{{between}}}}},\n"
        f"     0x{_bits(repeated):04x},\n"
        f"     0x{_bits(route.merged_only):04x}}},"
    )


def _point(point: Checkpoint) -> str:
    return f"Checkpoint::{point.name}"
