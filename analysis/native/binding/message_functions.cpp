// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/message_functions.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>
#include <vector>

#include "binding/columns.hpp"
#include "layers/deliveries.hpp"
#include "layers/distinct.hpp"
#include "layers/links.hpp"
#include "layers/pairs.hpp"
#include "layers/ways.hpp"

namespace nb = nanobind;

namespace {

using Declared = std::tuple<int64_t, IntArray, IntArray>;

nb::tuple link_messages(const IntArrays<5>& published, const IntArrays<5>& callbacks,
                        const FlagArray& is_resumed, const IntArrays<3>& messages,
                        const std::vector<Declared>& declared) {
  std::vector<strata::DeclaredInput> inputs;
  for (const auto& [kind, subscriptions, publishers] : declared) {
    inputs.push_back(
        {static_cast<strata::LinkKind>(kind), span_of(subscriptions), span_of(publishers)});
  }
  strata::LinkRows rows;
  {
    const nb::gil_scoped_release unlocked;
    rows = strata::link_messages(
        {span_of(published[0]), span_of(published[1]), span_of(published[2]), span_of(published[3]),
         span_of(published[4])},
        {span_of(callbacks[0]), span_of(callbacks[1]), span_of(callbacks[2]), span_of(callbacks[3]),
         span_of(callbacks[4]), span_of(is_resumed)},
        {span_of(messages[0]), span_of(messages[1]), span_of(messages[2])}, inputs);
  }
  return nb::make_tuple(moved(std::move(rows.child)), moved(std::move(rows.parent)),
                        moved(std::move(rows.kind)), moved(std::move(rows.callback_ns)),
                        moved(std::move(rows.suspended_ns)), moved(std::move(rows.stored_ns)),
                        moved(std::move(rows.hold_ns)), moved_flags(std::move(rows.is_critical)));
}

nb::tuple follow_ways(const IntArray& hop, const FlagArray& is_headless, const IntArray& child,
                      const IntArray& parent, const FlagArray& is_allowed) {
  strata::WayRows rows;
  {
    const nb::gil_scoped_release unlocked;
    rows = strata::follow_ways(span_of(hop), span_of(is_headless),
                               {span_of(child), span_of(parent), span_of(is_allowed)});
  }
  return nb::make_tuple(moved(std::move(rows.message)), moved(std::move(rows.previous)),
                        moved(std::move(rows.link)), moved(std::move(rows.way)),
                        moved_flags(std::move(rows.is_end)), moved_flags(std::move(rows.is_capped)),
                        moved_flags(std::move(rows.is_headless)), moved(std::move(rows.before)),
                        moved(std::move(rows.hop)), rows.unfollowed);
}

nb::tuple collect_instances(const IntArrays<3>& ways, const IntArray& ends, size_t length) {
  strata::InstanceRows rows = strata::collect_instances(span_of(ways[0]), span_of(ways[1]),
                                                        span_of(ways[2]), span_of(ends), length);
  return nb::make_tuple(moved(std::move(rows.message)), moved(std::move(rows.link)));
}

nb::tuple find_distinct(const IntArray& column) {
  strata::Distinct found;
  {
    const nb::gil_scoped_release unlocked;
    found = strata::find_distinct(span_of(column));
  }
  return nb::make_tuple(moved(std::move(found.values)), moved(std::move(found.first)),
                        moved(std::move(found.number)));
}

nb::tuple match_pairs(const IntArray& writer, const IntArray& reader, const IntArray& hop) {
  strata::MatchedPairs found = strata::match_pairs(span_of(writer), span_of(reader), span_of(hop));
  return nb::make_tuple(moved(std::move(found.writer)), moved(std::move(found.reader)),
                        moved(std::move(found.hop)));
}

nb::tuple first_handed(const IntArrays<3>& publications, size_t writers) {
  strata::FirstHanded first = strata::first_handed(
      span_of(publications[0]), span_of(publications[1]), span_of(publications[2]), writers);
  return nb::make_tuple(moved(std::move(first.any_ns)), moved(std::move(first.sent_ns)));
}

nb::tuple find_deliveries(const IntArrays<5>& publications, const IntArrays<5>& messages,
                          const std::tuple<IntArrays<6>, FlagArray>& readers,
                          const std::tuple<IntArrays<3>, FlagArray, FlagArray>& pairs, size_t hops,
                          const std::array<IntArrays<2>, 4>& evidence,
                          const std::vector<std::pair<int64_t, int64_t>>& losses) {
  const auto& [reader_columns, is_told] = readers;
  const auto& [pair_columns, is_within, is_apart] = pairs;
  const auto known = [&](size_t at) {
    return strata::Known{span_of(evidence[at][0]), span_of(evidence[at][1])};
  };
  strata::DeliveryRows rows;
  {
    const nb::gil_scoped_release unlocked;
    const strata::Losses windows(losses);
    rows = strata::find_deliveries(
        {span_of(publications[0]), span_of(publications[1]), span_of(publications[2]),
         span_of(publications[3]), span_of(publications[4])},
        {span_of(messages[0]), span_of(messages[1]), span_of(messages[2]), span_of(messages[3]),
         span_of(messages[4])},
        {span_of(reader_columns[0]), span_of(reader_columns[1]), span_of(reader_columns[2]),
         span_of(reader_columns[3]), span_of(reader_columns[4]), span_of(reader_columns[5]),
         span_of(is_told)},
        {span_of(pair_columns[0]), span_of(pair_columns[1]), span_of(pair_columns[2]),
         span_of(is_within), span_of(is_apart)},
        hops, {known(0), known(1), known(2), known(3), windows});
  }
  return nb::make_tuple(moved(std::move(rows.hop)), moved(std::move(rows.publication)),
                        moved_bytes(std::move(rows.fate)), moved(std::move(rows.published_ns)),
                        moved(std::move(rows.since_ns)), moved(std::move(rows.before_first)));
}

}  // namespace

void add_message_functions(nb::module_& module) {
  module.def("link_messages", &link_messages, nb::arg("published"), nb::arg("callbacks"),
             nb::arg("is_resumed"), nb::arg("messages"), nb::arg("declared"));
  module.def("follow_ways", &follow_ways, nb::arg("hop"), nb::arg("is_headless"), nb::arg("child"),
             nb::arg("parent"), nb::arg("is_allowed"));
  module.def("collect_instances", &collect_instances, nb::arg("ways"), nb::arg("ends"),
             nb::arg("length"));
  module.def("match_pairs", &match_pairs, nb::arg("writer"), nb::arg("reader"), nb::arg("hop"));
  module.def("first_handed", &first_handed, nb::arg("publications"), nb::arg("writers"));
  module.def("find_deliveries", &find_deliveries, nb::arg("publications"), nb::arg("messages"),
             nb::arg("readers"), nb::arg("pairs"), nb::arg("hops"), nb::arg("evidence"),
             nb::arg("losses"));
  module.def("find_distinct", &find_distinct, nb::arg("column"));
}
