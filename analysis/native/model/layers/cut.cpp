// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/layers/cut.hpp"

#include <bit>
#include <stdexcept>
#include <string>
#include <tuple>

#include "model/column.hpp"

namespace strata {

namespace {

constexpr uint8_t kNoLayer = 255;
static_assert(kLayers < kNoLayer);
using LayerOf = std::array<uint8_t, size_t{1} << kBasicLayers>;

// The number of the layer that is made of these.
LayerOf layers_by_parts() {
  LayerOf out;
  out.fill(kNoLayer);
  for (size_t layer = 0; layer < kLayers; ++layer) {
    out[kBasicOf[layer]] = static_cast<uint8_t>(layer);
  }
  return out;
}

// Between two neighbours among the checkpoints that are known.
struct Part {
  int64_t duration_ns;
  BasicLayers layers;
};

using Parts = std::array<Part, std::tuple_size_v<decltype(Route::between)>>;

size_t parts_of(const Route& route, const Instants& instants, size_t message, Parts& out) {
  size_t count = 0;
  bool any = false;
  int64_t begin_ns = kNone;
  BasicLayers layers = 0;
  for (size_t i = 0; i < route.count; ++i) {
    if (i) layers |= route.between[i - 1];
    const Ints column = instants[static_cast<size_t>(route.checkpoints[i])];
    const int64_t ns = column.empty() ? kNone : column[message];
    if (ns == kNone) continue;
    // Of any two instants, without overflow.
    const auto duration_ns =
        static_cast<int64_t>(static_cast<uint64_t>(ns) - static_cast<uint64_t>(begin_ns));
    if (any) out[count++] = {duration_ns, layers};
    any = true;
    begin_ns = ns;
    layers = 0;
  }
  return count;
}

// A part whose layers all lie in a longer one is time of that one.
BasicLayers whole_of(const Parts& parts, size_t count, BasicLayers own) {
  BasicLayers whole = own;
  for (size_t i = 0; i < count; ++i) {
    const BasicLayers other = parts[i].layers;
    if ((own & ~other) == 0 && std::popcount(other) > std::popcount(whole)) whole = other;
  }
  return whole;
}

void require(Ints route, const Instants& instants) {
  for (const Ints column : instants) {
    if (!column.empty() && column.size() != route.size()) {
      throw std::invalid_argument("the columns of checkpoints differ in length");
    }
  }
  for (const int64_t one : route) {
    if (one < 0 || static_cast<size_t>(one) >= kRoutes.size()) {
      throw std::invalid_argument("there is no route " + std::to_string(one));
    }
  }
}

}  // namespace

LayerDurations cut_layers(Ints route, const Instants& instants) {
  require(route, instants);
  static const LayerOf layer_of = layers_by_parts();
  LayerDurations out;
  Parts parts;
  for (size_t message = 0; message < route.size(); ++message) {
    const Route& way = kRoutes[static_cast<size_t>(route[message])];
    const size_t count = parts_of(way, instants, message, parts);
    std::array<bool, kLayers> there{};
    for (size_t i = 0; i < count; ++i) {
      BasicLayers layers = parts[i].layers;
      if ((layers & ~way.repeated) == 0) layers = whole_of(parts, count, layers);
      const uint8_t layer = layer_of[layers];
      if (layer == kNoLayer || (layers & ~way.merged_only) == 0) continue;
      if (out[layer].empty()) out[layer].resize(route.size(), kNone);
      int64_t& sum = out[layer][message];
      sum = there[layer] ? static_cast<int64_t>(static_cast<uint64_t>(sum) +
                                                static_cast<uint64_t>(parts[i].duration_ns))
                         : parts[i].duration_ns;
      there[layer] = true;
    }
  }
  return out;
}

}  // namespace strata
