// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/layers/cut.hpp"

#include <bit>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

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

// Between two neighbours among the checkpoints that are known, by their places in the route.
struct Part {
  uint8_t from;
  uint8_t to;
  BasicLayers layers;
};

using Parts = std::array<Part, std::tuple_size_v<decltype(Route::between)>>;
// Which checkpoints of a route are known of a message, by their places.
using Places = uint32_t;
static_assert(std::tuple_size_v<decltype(Route::checkpoints)> <= 32);

size_t parts_of(const Route& route, Places known, Parts& out) {
  size_t count = 0;
  bool any = false;
  uint8_t from = 0;
  BasicLayers layers = 0;
  for (size_t i = 0; i < route.count; ++i) {
    if (i) layers |= route.between[i - 1];
    if ((known >> i & 1U) == 0) continue;
    const auto place = static_cast<uint8_t>(i);
    if (any) out[count++] = {from, place, layers};
    any = true;
    from = place;
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

// A part that is time of a layer; of a layer's parts the first is the one that does not add.
struct LayerPart {
  uint8_t layer;
  uint8_t from;
  uint8_t to;
  bool adds;
};

// The layers of messages of one route of which the same checkpoints are known.
std::vector<LayerPart> shares_of(const Route& route, Places known) {
  static const LayerOf layer_of = layers_by_parts();
  Parts parts;
  const size_t count = parts_of(route, known, parts);
  std::vector<LayerPart> shares;
  std::array<bool, kLayers> there{};
  for (size_t i = 0; i < count; ++i) {
    BasicLayers layers = parts[i].layers;
    if ((layers & ~route.repeated) == 0) layers = whole_of(parts, count, layers);
    const uint8_t layer = layer_of[layers];
    if (layer == kNoLayer || (layers & ~route.merged_only) == 0) continue;
    shares.push_back({layer, parts[i].from, parts[i].to, there[layer]});
    there[layer] = true;
  }
  return shares;
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
  LayerDurations out;
  // Most messages of a trace are alike.
  std::unordered_map<uint64_t, std::vector<LayerPart>> alike;
  const std::vector<LayerPart>* shares = nullptr;
  uint64_t last = 0;
  std::array<int64_t, std::tuple_size_v<decltype(Route::checkpoints)>> at_ns{};
  for (size_t message = 0; message < route.size(); ++message) {
    const auto number = static_cast<size_t>(route[message]);
    const Route& way = kRoutes[number];
    Places known = 0;
    for (size_t i = 0; i < way.count; ++i) {
      const Ints column = instants[static_cast<size_t>(way.checkpoints[i])];
      at_ns[i] = column.empty() ? kNone : column[message];
      known |= static_cast<Places>(at_ns[i] != kNone) << i;
    }
    const uint64_t kind = static_cast<uint64_t>(number) << 32U | known;
    if (shares == nullptr || kind != last) {
      const auto [found, is_new] = alike.try_emplace(kind);
      if (is_new) found->second = shares_of(way, known);
      shares = &found->second;
      last = kind;
    }
    for (const LayerPart& share : *shares) {
      Column<int64_t>& column = out[share.layer];
      if (column.empty()) column.resize(route.size(), kNone);
      // Of any two instants, without overflow.
      const auto ns =
          static_cast<uint64_t>(at_ns[share.to]) - static_cast<uint64_t>(at_ns[share.from]);
      const uint64_t before = share.adds ? static_cast<uint64_t>(column[message]) : 0;
      column[message] = static_cast<int64_t>(before + ns);
    }
  }
  return out;
}

}  // namespace strata
