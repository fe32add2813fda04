// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What Python sees of the engine; typed in src/strata/engine/_model.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

#include "binding/arrays.hpp"
#include "binding/clock_classes.hpp"
#include "binding/columns.hpp"
#include "binding/dds_functions.hpp"
#include "binding/group_functions.hpp"
#include "binding/interval_class.hpp"
#include "binding/layer_functions.hpp"
#include "binding/memory.hpp"
#include "binding/message_functions.hpp"
#include "binding/traces.hpp"
#include "model/batches.hpp"
#include "model/engine.hpp"
#include "model/entities.hpp"
#include "model/executor_threads.hpp"
#include "model/intake.hpp"
#include "model/restarts.hpp"
#include "model/thread_intervals.hpp"
#include "model/trace_events.hpp"
#include "model/waits.hpp"

namespace nb = nanobind;

namespace {

using strata::Arrival;
using Origins = std::vector<std::pair<std::string, int64_t>>;

nb::object as_text(std::string_view bytes) {
  return nb::steal(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

// Record batches that Python gave, and what keeps them.
struct Sources {
  Sources(const nb::list& given, strata::Strings& strings) {
    for (const nb::handle item : given) {
      const auto pair = nb::cast<nb::tuple>(item);
      const auto name = nb::cast<std::string>(pair[0]);
      const auto parts = nb::cast<nb::tuple>(pair[1].attr("__arrow_c_array__")());
      const nb::object schema = parts[0], array = parts[1];
      const auto* type =
          static_cast<ArrowSchema*>(PyCapsule_GetPointer(schema.ptr(), "arrow_schema"));
      const auto* content =
          static_cast<ArrowArray*>(PyCapsule_GetPointer(array.ptr(), "arrow_array"));
      if (type == nullptr || content == nullptr) throw nb::python_error();
      capsules.push_back(schema);
      capsules.push_back(array);
      batches.emplace_back(name, *type, *content, strings);
    }
  }
  std::vector<nb::object> capsules;
  std::vector<strata::Batch> batches;
};

class Engine {
 public:
  // Texts of what is given are numbered before any event's.
  struct Given {
    strata::Settings settings;
    strata::Strings strings;

    int64_t text(const std::string& text) { return strings.texts.number(text); }
  };

  explicit Engine(Given given) : engine_(std::move(given.settings), std::move(given.strings)) {}

  // What was there before the trace, as another session recorded it: batches of init events, to be
  // given before all others.
  void announce(const nb::list& batches) {
    Sources sources(batches, engine_.strings());
    announced_ = strata::arrivals_of(sources.batches);
  }

  // Feeds batches of events: pairs of a name and a record batch, each in order of time.
  // `origins`: when the clock of each host began, in ns since the epoch. `looks_back`: that some
  // event, perhaps of later batches, changes what comes before it.
  void feed(const nb::list& batches, const Origins& origins, int64_t latest_by, bool looks_back) {
    if (finished_) throw std::logic_error("the engine is finished");
    Sources sources(batches, engine_.strings());
    strata::ClockOrigins known;
    for (const auto& [host, ns] : origins) known[engine_.strings().texts.number(host)] = ns;
    const nb::gil_scoped_release unlocked;
    if (!intake_ && (looks_back || !announced_.empty())) {
      intake_.emplace(engine_, latest_by);
      intake_->announce(announced_);
    }
    strata::push_in_order(engine_, intake_ ? &*intake_ : nullptr, known, sources.batches);
  }

  // How late steps of operations came that were fed, if that is too late; else 0.
  int64_t too_late_by() { return intake_ ? intake_->too_late_by() : 0; }

  // Pushes the events of a trace between two times; returns how many, and what was found wrong.
  nb::tuple read(const binding::Traces& traces, const nb::object& progress, int64_t latest_by,
                 int64_t begin_ns, int64_t last_ns) {
    if (finished_) throw std::logic_error("the engine is finished");
    constexpr uint64_t kAtOnce = 1U << 18;
    strata::TraceEvents source(traces.set(), engine_, latest_by, announced_, begin_ns, last_ns);
    for (bool more = true; more;) {
      const uint64_t before = source.events();
      {
        const nb::gil_scoped_release unlocked;
        more = source.push(kAtOnce);
      }
      if (!progress.is_none()) progress(source.events() - before);
    }
    nb::list misplaced;
    for (const auto& item : source.misplaced()) {
      misplaced.append(nb::make_tuple(item.file, item.offset, item.events));
    }
    return nb::make_tuple(source.events(), binding::Traces::damage_list(source.damage()), misplaced,
                          source.out_of_order(), source.too_late_by());
  }

  // No event comes after this. Returns ([(host, namespace)], [(host, process id, ns)]).
  nb::tuple identities() {
    if (intake_) intake_->finish();
    engine_.end();
    const auto& texts = engine_.strings().texts;
    const auto host = [&](int64_t number) {
      return as_text(number == strata::kNone ? std::string_view() : texts[number]);
    };
    nb::list namespaces, restarts;
    for (const auto& [name, number] : engine_.namespaces().sharing()) {
      namespaces.append(nb::make_tuple(host(name), number));
    }
    for (const strata::Restart& restart : engine_.restarts().found()) {
      restarts.append(nb::make_tuple(host(restart.host), restart.vpid, restart.ns));
    }
    return nb::make_tuple(namespaces, restarts);
  }

  void finish() {
    if (finished_) return;
    finished_ = true;
    const nb::gil_scoped_release unlocked;
    if (intake_) intake_->finish();
    engine_.finish();
  }

  // {table: {column: array}}; of a finished engine they are its own memory.
  nb::dict rows() {
    nb::dict tables;
    const nb::object self = finished_ ? nb::find(this) : nb::object();
    engine_.rows().each([&](const char* name, auto& table) {
      nb::dict columns;
      table.each([&](const char* column, auto& values) {
        columns[column] = finished_ ? view_of(values, self) : as_array(values);
      });
      tables[name] = columns;
    });
    return tables;
  }

  // What was sent and what arrived of every sample: {table: {column: array}}
  nb::dict transmissions() {
    must_be_finished();
    return transmissions_of(engine_);
  }

  // What readers were told of: {column: array}
  nb::dict notifications() {
    must_be_finished();
    return notifications_of(engine_);
  }

  int64_t joined_ns() const { return engine_.joined_ns(); }
  // First and last event.
  nb::tuple span() const { return nb::make_tuple(engine_.first_ns(), engine_.last_ns()); }

  // Waits for work of threads in some order.
  strata::ThreadIntervals waits(const IntArray& order) {
    return engine_.waits().intervals(threads_of(order));
  }

  // What threads of executors did beside callbacks and waits: of one kind.
  strata::ThreadIntervals executor_intervals(size_t kind, const IntArray& order) {
    if (kind >= strata::kExecutorIntervals) throw nb::value_error("no such kind of interval");
    return engine_.executor_threads().intervals(static_cast<strata::ExecutorInterval>(kind),
                                                threads_of(order));
  }

  // The way of each message: {column: array}. `messages` are columns of strata::dds::Message.
  nb::dict ways(const std::array<MessageColumn, 8>& messages) {
    must_be_finished();
    return ways_of(engine_, messages);
  }

  nb::list texts() {
    nb::list found;
    const auto& texts = engine_.strings().texts;
    for (size_t i = 0; i < texts.size(); ++i) found.append(as_text(texts[static_cast<int64_t>(i)]));
    return found;
  }

  nb::list bytes() {
    nb::list found;
    const auto& runs = engine_.strings().bytes;
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto run = runs[static_cast<int64_t>(i)];
      found.append(nb::bytes(run.data(), run.size()));
    }
    return found;
  }

  // [(code, kind of place, row, count, first ns, last ns)]
  nb::list findings() const {
    nb::list found;
    for (const auto& [key, item] : engine_.ledger().found()) {
      const auto name = strata::kFindings[static_cast<size_t>(key.code)];
      found.append(nb::make_tuple(as_text(name), static_cast<int>(key.kind), key.row, item.count,
                                  item.first_ns, item.last_ns));
    }
    return found;
  }

  // [(event, used, use, count)]
  nb::list event_uses() const {
    nb::list found;
    for (size_t i = 0; i < strata::kEventTypes; ++i) {
      for (size_t k = 0; k < strata::kUses.size(); ++k) {
        const auto count =
            engine_.uses().counted(static_cast<strata::EventType>(i), static_cast<strata::Use>(k));
        if (count == 0) continue;
        found.append(nb::make_tuple(as_text(strata::kEvents[i].name), strata::kUses[k].used,
                                    as_text(strata::kUses[k].text), count));
      }
    }
    return found;
  }

  // Events that introduce entities: {event: {column: array}}. `present` has a bit a field.
  nb::dict inits() const {
    nb::dict found;
    for (size_t i = 0; i < strata::kEventTypes; ++i) {
      const auto type = static_cast<strata::EventType>(i);
      const auto& events = engine_.entities().inits(type);
      if (events.empty()) continue;
      nb::dict columns;
      const auto add = [&](std::string_view name, auto&& value) {
        std::vector<int64_t> values;
        values.reserve(events.size());
        for (const strata::Event& event : events) values.push_back(value(event));
        columns[as_text(name)] = as_array(std::move(values));
      };
      add("timestamp", [](const auto& event) { return event.ns; });
      add("process", [](const auto& event) { return static_cast<int64_t>(event.process); });
      add("thread", [](const auto& event) { return static_cast<int64_t>(event.thread); });
      add("present", [](const auto& event) { return static_cast<int64_t>(event.present); });
      for (int field = 0; field < strata::kEvents[i].fields; ++field) {
        const auto& declared =
            strata::kFields[strata::first_field(type) + static_cast<size_t>(field)];
        add(declared.column, [field](const auto& event) { return event[field]; });
      }
      found[as_text(strata::kEvents[i].name)] = columns;
    }
    return found;
  }

  nb::list lists() const {
    nb::list found;
    for (const auto& list : engine_.strings().lists) found.append(as_array(list));
    return found;
  }

  // All that were not left out.
  uint64_t events() const {
    const auto& counts = engine_.counts();
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  }

  // By name.
  nb::dict counts() const {
    nb::dict found;
    for (size_t i = 0; i < strata::kEventTypes; ++i) {
      if (engine_.counts()[i] != 0) found[as_text(strata::kEvents[i].name)] = engine_.counts()[i];
    }
    for (const auto& [name, count] : engine_.undeclared()) {
      found[as_text(name == strata::kNone ? std::string_view() : engine_.strings().texts[name])] =
          count;
    }
    return found;
  }

 private:
  strata::Ints threads_of(const IntArray& order) {
    must_be_finished();
    const strata::Ints threads = span_of(order);
    const auto count = static_cast<int64_t>(engine_.rows().threads.size());
    for (const int64_t thread : threads) {
      if (thread < 0 || thread >= count) throw nb::value_error("no such thread");
    }
    return threads;
  }

  void must_be_finished() const {
    if (!finished_) throw std::logic_error("the engine is not finished");
  }

  strata::Engine engine_;
  std::optional<strata::Intake> intake_;  // of what is fed
  std::vector<strata::Arrival> announced_;
  bool finished_ = false;
};

using Windows = std::vector<std::pair<int64_t, int64_t>>;
using Clocks = std::vector<std::pair<std::string, std::string>>;
using Namespaces = std::vector<std::tuple<std::string, int64_t, std::string>>;
using Restarts = std::vector<std::tuple<std::string, int64_t, int64_t>>;
using Processes = std::vector<int64_t>;
using Within = std::optional<std::pair<int64_t, int64_t>>;

void make_engine(Engine* self, const Windows& losses, const Clocks& clocks,
                 const Namespaces& namespaces, const Restarts& restarts, const Processes& left_out,
                 const Within& bounds) {
  Engine::Given given;
  strata::Settings& settings = given.settings;
  settings.losses = strata::Losses(losses);
  for (const auto& [host, clock] : clocks) settings.clocks[given.text(host)] = given.text(clock);
  for (const auto& [host, number, name] : namespaces) {
    settings.namespaces[{given.text(host), number}] = given.text(name);
  }
  for (const auto& [host, vpid, ns] : restarts) {
    settings.restarts.push_back({given.text(host), vpid, ns});
  }
  settings.left_out = left_out;
  if (bounds) std::tie(settings.since_ns, settings.until_ns) = *bounds;
  new (self) Engine(std::move(given));
}

}  // namespace

NB_MODULE(_model, module) {
  nb::class_<Engine>(module, "Engine")
      .def("__init__", &make_engine, nb::kw_only(), nb::arg("losses") = Windows(),
           nb::arg("clocks") = Clocks(), nb::arg("namespaces") = Namespaces(),
           nb::arg("restarts") = Restarts(), nb::arg("left_out") = Processes(),
           nb::arg("bounds") = nb::none())
      .def("announce", &Engine::announce, nb::arg("batches"))
      .def("feed", &Engine::feed, nb::arg("batches"), nb::kw_only(), nb::arg("origins") = Origins(),
           nb::arg("latest_by") = 0, nb::arg("looks_back") = false)
      .def_prop_ro("too_late_by", &Engine::too_late_by)
      .def("read", &Engine::read, nb::arg("traces"), nb::arg("progress") = nb::none(),
           nb::kw_only(), nb::arg("latest_by") = 0, nb::arg("begin_ns") = INT64_MIN,
           nb::arg("last_ns") = INT64_MAX)
      .def("identities", &Engine::identities)
      .def("finish", &Engine::finish)
      .def("rows", &Engine::rows)
      .def("transmissions", &Engine::transmissions)
      .def("waits", &Engine::waits, nb::arg("order"), nb::keep_alive<0, 1>())
      .def("executor_intervals", &Engine::executor_intervals, nb::arg("kind"), nb::arg("order"),
           nb::keep_alive<0, 1>())
      .def("notifications", &Engine::notifications)
      .def_prop_ro("span", &Engine::span)
      .def_prop_ro("joined_ns", &Engine::joined_ns)
      .def("ways", &Engine::ways, nb::arg("messages"))
      .def_prop_ro("texts", &Engine::texts)
      .def_prop_ro("bytes", &Engine::bytes)
      .def_prop_ro("findings", &Engine::findings)
      .def_prop_ro("event_uses", &Engine::event_uses)
      .def("inits", &Engine::inits)
      .def_prop_ro("lists", &Engine::lists)
      .def_prop_ro("events", &Engine::events)
      .def_prop_ro("counts", &Engine::counts);
  add_clock_classes(module);
  add_interval_class(module);
  add_memory(module);
  add_group_functions(module);
  add_layer_functions(module);
  add_message_functions(module);
}
