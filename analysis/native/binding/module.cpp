// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What Python sees of the decoder; typed in src/strata/read/_ctf.pyi.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <stdexcept>
#include <system_error>

#include "binding/traces.hpp"
#include "columns/arrow.hpp"
#include "decode/extract.hpp"
#include "decode/reader.hpp"

namespace nb = nanobind;

namespace {

using binding::Metadata;
using binding::text;
using binding::Traces;
using ctf::Scope;

constexpr std::array<std::pair<const char*, Scope>, 4> kScopes = {
    {{"packet", Scope::packet_context},
     {"common", Scope::common_context},
     {"specific", Scope::specific_context},
     {"payload", Scope::payload}}};

Scope scope_of(const std::string& name) {
  for (const auto& [known, scope] : kScopes) {
    if (name == known) return scope;
  }
  throw nb::value_error("unknown scope");
}

Metadata parse(nb::bytes bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.c_str());
  return {ctf::parse_metadata({data, bytes.size()})};
}

nb::dict environment(const Metadata& metadata) {
  nb::dict found;
  for (const auto& [name, value] : metadata.layout->environment) {
    nb::object key = nb::steal(
        PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "replace"));
    if (const auto* number = std::get_if<int64_t>(&value)) {
      found[key] = *number;
    } else {
      const auto& text = std::get<std::string>(value);
      found[key] = nb::steal(
          PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    }
  }
  return found;
}

nb::list event_names(const Metadata& metadata) {
  nb::list names;
  for (const auto& [id, stream] : metadata.layout->streams) {
    for (const auto& [event_id, event] : stream.events) names.append(text(event.name));
  }
  return names;
}

nb::list clocks(const Metadata& metadata) {
  nb::list found;
  for (const auto& clock : metadata.layout->clocks) {
    nb::dict entry;
    entry["name"] = text(clock.name);
    entry["uuid"] = text(clock.uuid);
    entry["frequency"] = clock.frequency;
    entry["offset_seconds"] = clock.offset_seconds;
    entry["offset_cycles"] = clock.offset_cycles;
    entry["offset_ns"] = ctf::ClockConverter(clock).nanoseconds(0);
    found.append(entry);
  }
  return found;
}

// Take the offset of another one's first clock for the own, before events are decoded.
void take_offset_of(Metadata& metadata, const Metadata& other) {
  if (metadata.layout->clocks.empty() || other.layout->clocks.empty()) return;
  metadata.layout->clocks[0].offset_seconds = other.layout->clocks[0].offset_seconds;
  metadata.layout->clocks[0].offset_cycles = other.layout->clocks[0].offset_cycles;
}

std::string uuid(const Metadata& metadata) {
  return metadata.layout->uuid ? ctf::format_uuid(*metadata.layout->uuid) : "";
}

template <typename T>
void free_part(PyObject* capsule, const char* name) {
  auto* part = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (part->release != nullptr) part->release(part);
  delete part;
}

nb::object schema_capsule(const std::vector<ctf::ColumnType>& types) {
  auto schema = std::make_unique<ArrowSchema>();
  ctf::export_schema(types, schema.get());
  return nb::steal(PyCapsule_New(schema.release(), "arrow_schema", [](PyObject* capsule) {
    free_part<ArrowSchema>(capsule, "arrow_schema");
  }));
}

struct Schema {
  std::shared_ptr<const std::vector<ctf::ColumnType>> types;

  // (name, kind); equal kinds have equal texts
  nb::list kinds() const {
    nb::list found;
    for (ctf::ColumnType type : *types) {
      const nb::object name = text(type.name);
      type.name.clear();
      type.nullable = false;
      found.append(nb::make_tuple(name, text(type.key())));
    }
    return found;
  }
};

class Batch {
 public:
  explicit Batch(std::shared_ptr<ctf::Batch> batch) : batch_(std::move(batch)) {}

  nb::object event() const { return text(batch_->event); }
  size_t table() const { return batch_->table; }
  int64_t rows() const { return batch_->rows; }

  nb::tuple arrow_c_array(const nb::object&) const {
    auto array = std::make_unique<ArrowArray>();
    ctf::export_array(batch_->columns, batch_->rows, batch_, array.get());
    nb::object made =
        nb::steal(PyCapsule_New(array.release(), "arrow_array", [](PyObject* capsule) {
          free_part<ArrowArray>(capsule, "arrow_array");
        }));
    return nb::make_tuple(schema_capsule(*batch_->types), made);
  }

 private:
  std::shared_ptr<ctf::Batch> batch_;
};

// What of an event class is wanted: [(scope, member, column name)]; none for nothing.
using Wish = std::optional<std::vector<std::tuple<std::string, size_t, std::string>>>;

class Reader {
 public:
  Reader(const Traces& traces, const std::vector<Wish>& wishes, int64_t begin, int64_t last,
         uint64_t chunk_rows, uint64_t chunk_bytes)
      : reader_(traces.set(), converted(wishes, traces),
                options(begin, last, chunk_rows, chunk_bytes)) {}

  std::vector<Batch> next() {
    std::vector<std::shared_ptr<ctf::Batch>> batches;
    {
      const nb::gil_scoped_release unlocked;
      const std::lock_guard lock(mutex_);
      batches = reader_.next();
    }
    if (batches.empty()) throw nb::stop_iteration();
    return {batches.begin(), batches.end()};
  }

  nb::list tables() const {
    nb::list found;
    for (const auto& table : reader_.tables()) {
      found.append(nb::make_tuple(text(table.event), Schema{table.types}));
    }
    return found;
  }

  nb::list damage() const { return Traces::damage_list(reader_.damage()); }
  uint64_t out_of_order() const { return reader_.out_of_order(); }

  // (file, byte of the packet, events)
  nb::list misplaced() const {
    nb::list found;
    for (const auto& item : reader_.misplaced()) {
      found.append(nb::make_tuple(item.file, item.offset, item.events));
    }
    return found;
  }

 private:
  static ctf::ReadOptions options(int64_t begin, int64_t last, uint64_t chunk_rows,
                                  uint64_t chunk_bytes) {
    ctf::ReadOptions made;
    made.begin = begin;
    made.last = last;
    made.chunk_rows = chunk_rows;
    made.chunk_bytes = chunk_bytes;
    return made;
  }

  static std::vector<std::optional<ctf::EventWish>> converted(const std::vector<Wish>& wishes,
                                                              const Traces& traces) {
    if (wishes.size() != traces.set().event_classes().size()) {
      throw nb::value_error("one wish for every event class");
    }
    std::vector<std::optional<ctf::EventWish>> made;
    for (const auto& wish : wishes) {
      made.emplace_back();
      if (!wish) continue;
      made.back().emplace();
      for (const auto& [scope, member, name] : *wish) {
        made.back()->columns.push_back({scope_of(scope), member, name});
      }
    }
    return made;
  }

  std::mutex mutex_;  // Python's threads may share a reader.
  ctf::Reader reader_;
};

}  // namespace

NB_MODULE(_ctf, module) {
  nb::exception<ctf::MetadataError>(module, "MetadataError", PyExc_ValueError);
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const std::system_error& error) {
      // OSError picks its subclass by the number.
      nb::object made = nb::handle(PyExc_OSError)(error.code().value(), error.what());
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    }
  });

  nb::class_<Metadata>(module, "Metadata")
      .def_prop_ro("version", [](const Metadata& m) { return m.layout->version; })
      .def_prop_ro("uuid", uuid)
      .def_prop_ro("cut", [](const Metadata& m) { return text(m.layout->cut); })
      .def_prop_ro("environment", environment)
      .def_prop_ro("event_names", event_names)
      .def_prop_ro("clocks", clocks)
      .def("take_offset_of", take_offset_of, nb::arg("other"));
  module.def("parse_metadata", parse, nb::arg("data"));

  nb::class_<Traces>(module, "Traces")
      .def(nb::init<>())
      .def("add", &Traces::add, nb::arg("metadata"), nb::arg("host"), nb::arg("files"))
      .def("index", &Traces::index)
      .def_prop_ro("event_classes", &Traces::event_classes)
      .def_prop_ro("files", &Traces::files)
      .def_prop_ro("damage", &Traces::damage)
      .def_prop_ro("duplicate_packets", &Traces::duplicate_packets)
      .def_prop_ro("index_faults", &Traces::index_faults)
      .def_prop_ro("mended_headers", &Traces::mended_headers)
      .def("packets", &Traces::packets)
      .def("missing_packets", &Traces::missing_packets)
      .def("clock_origins", &Traces::clock_origins, nb::arg("events"))
      .def("extract", &Traces::extract, nb::arg("wanted"));

  nb::class_<Schema>(module, "Schema")
      .def("__arrow_c_schema__", [](const Schema& schema) { return schema_capsule(*schema.types); })
      .def_prop_ro("kinds", &Schema::kinds);

  nb::class_<Batch>(module, "Batch")
      .def_prop_ro("event", &Batch::event)
      .def_prop_ro("table", &Batch::table)
      .def("__len__", &Batch::rows)
      .def("__arrow_c_array__", &Batch::arrow_c_array, nb::arg("requested_schema") = nb::none());

  nb::class_<Reader>(module, "Reader")
      .def(
          nb::init<const Traces&, const std::vector<Wish>&, int64_t, int64_t, uint64_t, uint64_t>(),
          nb::arg("traces"), nb::arg("wishes"), nb::kw_only(), nb::arg("begin_ns") = INT64_MIN,
          nb::arg("last_ns") = INT64_MAX, nb::arg("chunk_rows") = 1U << 18,
          nb::arg("chunk_bytes") = 64U << 20, nb::keep_alive<1, 2>())
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &Reader::next)
      .def_prop_ro("tables", &Reader::tables)
      .def_prop_ro("damage", &Reader::damage)
      .def_prop_ro("misplaced", &Reader::misplaced)
      .def_prop_ro("out_of_order", &Reader::out_of_order);
}
