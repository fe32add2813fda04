// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "binding/message_functions.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>
#include <vector>

#include "binding/columns.hpp"
#include "layers/links.hpp"
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

}  // namespace

void add_message_functions(nb::module_& module) {
  module.def("link_messages", &link_messages, nb::arg("published"), nb::arg("callbacks"),
             nb::arg("is_resumed"), nb::arg("messages"), nb::arg("declared"));
  module.def("follow_ways", &follow_ways, nb::arg("hop"), nb::arg("is_headless"), nb::arg("child"),
             nb::arg("parent"), nb::arg("is_allowed"));
  module.def("collect_instances", &collect_instances, nb::arg("ways"), nb::arg("ends"),
             nb::arg("length"));
}
