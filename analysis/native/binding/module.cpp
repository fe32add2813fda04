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

#include "columns/arrow.hpp"
#include "decode/extract.hpp"
#include "decode/reader.hpp"

namespace nb = nanobind;

namespace {

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

struct Metadata {
  std::shared_ptr<ctf::Layout> layout;
};

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

nb::object text(const std::string& bytes) {
  return nb::steal(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
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

class Traces {
 public:
  void add(const Metadata& metadata, const std::string& host, const std::vector<nb::bytes>& files) {
    require_not_indexed();
    std::vector<std::string> paths;
    for (const auto& file : files) paths.emplace_back(file.c_str(), file.size());
    set_.add({host, metadata.layout}, paths);
  }

  void index() {
    require_not_indexed();
    indexed_ = true;
    const nb::gil_scoped_release unlocked;
    set_.index();
  }

  const ctf::TraceSet& set() const { return set_; }

  // (source, event name, [(scope, member, field name)]) of every event class.
  nb::list event_classes() const {
    nb::list found;
    for (const auto& event : set_.event_classes()) {
      nb::list columns;
      add_fields(columns, "common", event.stream->event_context.get());
      add_fields(columns, "specific", event.event->context.get());
      add_fields(columns, "packet", event.stream->packet_context.get());
      add_fields(columns, "payload", event.event->payload.get());
      found.append(nb::make_tuple(event.source, text(event.event->name), columns));
    }
    return found;
  }

  using Packets = std::vector<ctf::Packet> ctf::Stream::*;

  // A column of all packets, stream after stream, as a NumPy array that owns its memory.
  template <typename Get>
  auto packet_column(Packets which, Get get) const {
    std::vector<int64_t> values;
    for (size_t i = 0; i < set_.streams().size(); ++i) {
      for (const auto& packet : set_.streams()[i].*which) values.push_back(get(i, packet));
    }
    auto* kept = new std::vector<int64_t>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<int64_t>*>(p); });
    return nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
  }

  nb::dict packets() const { return columns_of(&ctf::Stream::packets); }
  nb::dict missing_packets() const { return columns_of(&ctf::Stream::missing); }

  nb::dict columns_of(Packets which) const {
    const auto nanoseconds = [this](const ctf::Packet& packet, uint64_t cycles) -> int64_t {
      const int clock = packet.stream->clock;
      if (clock < 0 || cycles == ctf::Packet::kNone) return INT64_MIN;
      const auto& layout = *set_.sources()[set_.source_of(packet)].layout;
      return ctf::ClockConverter(layout.clocks[static_cast<size_t>(clock)]).nanoseconds(cycles);
    };
    using ctf::Packet;
    nb::dict found;
    found["stream"] = packet_column(which, [](size_t i, const Packet&) { return int64_t(i); });
    found["file"] = packet_column(which, [](size_t, const Packet& p) { return int64_t(p.file); });
    found["offset"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.offset); });
    found["bytes"] = packet_column(which, [](size_t, const Packet& p) { return int64_t(p.bytes); });
    found["content_bits"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.content_bits); });
    found["events_at"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.events_at); });
    found["begin_ns"] =
        packet_column(which, [&](size_t, const Packet& p) { return nanoseconds(p, p.begin); });
    found["end_ns"] =
        packet_column(which, [&](size_t, const Packet& p) { return nanoseconds(p, p.end); });
    found["sequence"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.sequence); });
    found["discarded"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.discarded); });
    found["sequence_bits"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.sequence_size); });
    found["discarded_bits"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.discarded_size); });
    found["instance"] =
        packet_column(which, [](size_t, const Packet& p) { return int64_t(p.instance); });
    return found;
  }

  // (event class, row of packets(), cycles, bytes, field bounds) of every wanted event.
  nb::list extract(const std::vector<bool>& wanted) const {
    if (wanted.size() != set_.event_classes().size()) {
      throw nb::value_error("one answer for every event class");
    }
    std::vector<ctf::ExtractedEvent> events;
    {
      const nb::gil_scoped_release unlocked;
      events = ctf::extract_events(set_, wanted);
    }
    std::vector<size_t> first_rows = {0};
    for (const auto& stream : set_.streams()) {
      first_rows.push_back(first_rows.back() + stream.packets.size());
    }
    nb::list found;
    for (const auto& event : events) {
      found.append(nb::make_tuple(event.event_class, first_rows[event.stream] + event.packet,
                                  event.cycles, nb::bytes(event.bytes.data(), event.bytes.size()),
                                  event.fields));
    }
    return found;
  }

  nb::list files() const {
    nb::list found;
    for (const auto& file : set_.files()) {
      const nb::bytes path(file.path.data(), file.path.size());
      found.append(nb::make_tuple(path, file.bytes, file.source));
    }
    return found;
  }

  nb::list damage() const { return damage_list(set_.damage()); }
  // (file, why its index is no witness)
  nb::list index_faults() const {
    nb::list found;
    for (const auto& item : set_.index_faults()) {
      found.append(nb::make_tuple(item.file, item.reason));
    }
    return found;
  }

  // (file, how many of its packet headers were mended)
  nb::list mended_headers() const {
    nb::list found;
    for (const auto& item : set_.mended()) found.append(nb::make_tuple(item.file, item.packets));
    return found;
  }

  uint64_t duplicate_packets() const { return set_.duplicate_packets(); }

  static nb::list damage_list(const std::vector<ctf::Damage>& damage) {
    nb::list found;
    for (const auto& item : damage) {
      found.append(nb::make_tuple(item.file, item.offset, item.bytes, item.truncated, item.reason));
    }
    return found;
  }

 private:
  static void add_fields(nb::list& columns, const char* scope, const ctf::FieldClass* root) {
    if (root == nullptr) return;
    // What a packet says of itself is no column of its events.
    for (size_t i = 0; i < root->members.size(); ++i) {
      if (scope == std::string("packet") && root->members[i].field->roles != 0) continue;
      columns.append(nb::make_tuple(scope, i, text(root->members[i].name)));
    }
  }

  // Readers point into what was indexed.
  void require_not_indexed() const {
    if (indexed_) throw std::logic_error("the traces are indexed already");
  }

  ctf::TraceSet set_;
  bool indexed_ = false;
};

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
      .def("extract", &Traces::extract, nb::arg("wanted"));

  nb::class_<Schema>(module, "Schema").def("__arrow_c_schema__", [](const Schema& schema) {
    return schema_capsule(*schema.types);
  });

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
