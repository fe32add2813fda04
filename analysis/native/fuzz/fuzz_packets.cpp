// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A trace of one stream file: the length of the metadata (u32, little endian), the metadata, the
// file. Every column of every event is read and handed over, and what a consumer of Arrow arrays
// relies on is checked.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "columns/arrow.hpp"
#include "decode/extract.hpp"
#include "decode/reader.hpp"
#include "fuzz/stream_file.hpp"
#include "metadata/metadata.hpp"

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not an Arrow array: %s\n", what);
  std::abort();
}

// The sanitizers look at the bytes that are read; the sum keeps the reads in the program.
uint64_t sum_of(const void* from, int64_t bytes) {
  const auto* at = static_cast<const uint8_t*>(from);
  uint64_t sum = 0;
  for (int64_t i = 0; i < bytes; ++i) sum += at[i];
  return sum;
}

template <typename T>
T value_at(const void* from, int64_t index) {
  T value;
  std::memcpy(&value,
              static_cast<const uint8_t*>(from) + index * static_cast<int64_t>(sizeof value),
              sizeof value);
  return value;
}

// Returns the last offset: what the values behind the offsets must hold.
int64_t check_offsets(const void* offsets, int64_t length) {
  int32_t before = value_at<int32_t>(offsets, 0);
  check(before == 0, "the first offset is not 0");
  for (int64_t i = 1; i <= length; ++i) {
    const int32_t offset = value_at<int32_t>(offsets, i);
    check(offset >= before, "an offset is smaller than the one before");
    before = offset;
  }
  return before;
}

bool is_utf8(const uint8_t* text, int64_t bytes) {
  for (int64_t i = 0; i < bytes;) {
    const uint8_t lead = text[i];
    const int more = lead < 0x80 ? 0 : (lead >> 5) == 6 ? 1 : (lead >> 4) == 14 ? 2 : 3;
    if (lead >= 0x80 && (lead < 0xC2 || lead > 0xF4)) return false;
    if (bytes - i <= more) return false;
    uint32_t code = more == 0 ? lead : lead & (0x3FU >> more);
    for (int k = 1; k <= more; ++k) {
      if ((text[i + k] & 0xC0) != 0x80) return false;
      code = code << 6 | (text[i + k] & 0x3FU);
    }
    if (more == 2 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) return false;
    if (more == 3 && (code < 0x10000 || code > 0x10FFFF)) return false;
    i += more + 1;
  }
  return true;
}

bool is_valid(const ArrowArray& array, int64_t row) {
  const auto* bits = static_cast<const uint8_t*>(array.buffers[0]);
  return bits == nullptr || (bits[row / 8] >> (row % 8) & 1) != 0;
}

void check_text(const ArrowArray& array) {
  const auto* text = static_cast<const uint8_t*>(array.buffers[2]);
  check_offsets(array.buffers[1], array.length);
  for (int64_t i = 0; i < array.length; ++i) {
    const auto from = value_at<int32_t>(array.buffers[1], i);
    check(is_utf8(text + from, value_at<int32_t>(array.buffers[1], i + 1) - from), "not UTF-8");
  }
}

uint64_t check_array(const ArrowSchema& schema, const ArrowArray& array, int64_t length) {
  check(array.length == length && array.offset == 0, "the length is not that of the rows");
  check(array.n_children == schema.n_children, "as many children as the schema");
  check((array.dictionary == nullptr) == (schema.dictionary == nullptr), "a dictionary or none");
  int64_t nulls = 0;
  for (int64_t i = 0; i < length; ++i) nulls += is_valid(array, i) ? 0 : 1;
  check(nulls == array.null_count, "the number of nulls is wrong");

  const std::string format = schema.format;
  if (format == "u") {
    check(array.n_buffers == 3, "text has three buffers");
    check_text(array);
    return 0;
  }
  if (format == "z") {
    check(array.n_buffers == 3, "binary has three buffers");
    return sum_of(array.buffers[2], check_offsets(array.buffers[1], length));
  }
  uint64_t sum = 0;
  if (format == "+s") {
    for (int64_t i = 0; i < array.n_children; ++i) {
      sum += check_array(*schema.children[i], *array.children[i], length);
    }
    return sum;
  }
  if (format == "+l") {
    check(array.n_buffers == 2 && array.n_children == 1, "a list has offsets and one child");
    return check_array(*schema.children[0], *array.children[0],
                       check_offsets(array.buffers[1], length));
  }
  check(array.n_buffers == 2, "values have two buffers");
  check(schema.dictionary != nullptr || format == "l" || format == "L" || format == "g",
        "a format that no column has");
  if (schema.dictionary == nullptr) return sum_of(array.buffers[1], length * 8);
  check(format == "i", "codes are of 32 bits");
  const int64_t texts = array.dictionary->length;
  check_array(*schema.dictionary, *array.dictionary, texts);
  for (int64_t i = 0; i < length; ++i) {
    const auto code = value_at<int32_t>(array.buffers[1], i);
    check(!is_valid(array, i) || (code >= 0 && code < texts), "a code has no text");
  }
  return sum;
}

void add_wishes(ctf::EventWish& wish, const std::string& prefix, ctf::Scope scope,
                const ctf::FieldClass* root) {
  if (root == nullptr) return;
  for (size_t i = 0; i < root->members.size(); ++i) {
    // What a packet says of itself is no column of its events.
    if (scope == ctf::Scope::packet_context && root->members[i].field->roles != 0) continue;
    wish.columns.push_back({scope, i, prefix + root->members[i].name});
  }
}

std::vector<std::optional<ctf::EventWish>> all_wishes(const ctf::TraceSet& traces) {
  std::vector<std::optional<ctf::EventWish>> wishes;
  for (const auto& event : traces.event_classes()) {
    ctf::EventWish wish;
    add_wishes(wish, "common.", ctf::Scope::common_context, event.stream->event_context.get());
    add_wishes(wish, "specific.", ctf::Scope::specific_context, event.event->context.get());
    add_wishes(wish, "packet.", ctf::Scope::packet_context, event.stream->packet_context.get());
    add_wishes(wish, "", ctf::Scope::payload, event.event->payload.get());
    wishes.emplace_back(std::move(wish));
  }
  return wishes;
}

void check_batch(const std::shared_ptr<ctf::Batch>& batch) {
  ArrowSchema schema;
  ArrowArray array;
  ctf::export_schema(*batch->types, &schema);
  ctf::export_array(batch->columns, batch->rows, batch, &array);
  check(batch->rows > 0, "a batch without rows");
  check_array(schema, array, batch->rows);
  array.release(&array);
  schema.release(&schema);
}

void read_all(const ctf::TraceSet& traces, const std::vector<std::optional<ctf::EventWish>>& wishes,
              uint64_t chunk_rows) {
  ctf::ReadOptions options;
  options.chunk_rows = chunk_rows;
  options.chunk_bytes = 1U << 20;
  ctf::Reader reader(traces, wishes, options);
  std::vector<std::shared_ptr<ctf::Batch>> kept;  // the chunk before: its memory is not used again
  for (;;) {
    auto batches = reader.next();
    if (batches.empty()) break;
    for (const auto& batch : batches) check_batch(batch);
    for (const auto& batch : kept) check_batch(batch);
    kept = std::move(batches);
  }
}

void extract_all(const ctf::TraceSet& traces) {
  std::vector<ctf::ExtractedEvent> events;
  try {
    events = ctf::extract_events(traces, std::vector<bool>(traces.event_classes().size(), true));
  } catch (const std::invalid_argument&) {
    return;
  }
  for (const auto& event : events) {
    check(event.packet < traces.streams().at(event.stream).packets.size(), "an unknown packet");
    check(std::ranges::is_sorted(event.fields), "a field ends before it begins");
    check(!event.fields.empty() && event.fields.back() <= event.bytes.size(),
          "a field outside of its event");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::StreamFile file;
  uint32_t length = 0;
  if (size < sizeof length) return 0;
  std::memcpy(&length, data, sizeof length);
  data += sizeof length;
  size -= sizeof length;
  if (length > size) return 0;

  std::shared_ptr<const ctf::Layout> layout;
  try {
    layout = ctf::parse_metadata({data, length});
  } catch (const ctf::MetadataError&) {
    return 0;
  }
  ctf::TraceSet traces;
  traces.add({"host", layout}, {file.put(data + length, size - length)});
  traces.index();
  const auto wishes = all_wishes(traces);
  read_all(traces, wishes, 50);
  read_all(traces, wishes, 1000);
  // Nothing wished: events are passed, not read.
  read_all(traces, std::vector<std::optional<ctf::EventWish>>(wishes.size()), 7);
  extract_all(traces);
  return 0;
}
