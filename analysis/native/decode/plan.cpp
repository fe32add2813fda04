// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/plan.hpp"

#include "columns/fill.hpp"

namespace ctf {
namespace {

template <typename T>
T swap_bytes(T value) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(value)));
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(value)));
  if constexpr (sizeof(T) == 2)
    return static_cast<T>(__builtin_bswap16(static_cast<uint16_t>(value)));
  return value;
}

template <typename From, typename To>
void read_numbers(const uint8_t* const* anchors, uint32_t offset, size_t count, bool swapped,
                  To* out) {
  const auto load = [&](size_t i) {
    From value;
    std::memcpy(&value, anchors[i] + offset, sizeof value);
    return value;
  };
  if (swapped) {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<To>(swap_bytes(load(i)));
  } else {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<To>(load(i));
  }
}

template <typename From, typename To>
void gather_integers(Column& column, const uint8_t* const* anchors, uint32_t offset, size_t count,
                     bool swapped) {
  read_numbers<From>(anchors, offset, count, swapped, column.extend<To>(count));
}

void gather_integer(Column& column, const FieldClass& field, const uint8_t* const* anchors,
                    uint32_t offset, size_t count) {
  const bool swapped = field.order == ByteOrder::big;
  switch (field.size + (field.is_signed ? 1 : 0)) {
    case 8:
      return gather_integers<uint8_t, uint64_t>(column, anchors, offset, count, swapped);
    case 9:
      return gather_integers<int8_t, int64_t>(column, anchors, offset, count, swapped);
    case 16:
      return gather_integers<uint16_t, uint64_t>(column, anchors, offset, count, swapped);
    case 17:
      return gather_integers<int16_t, int64_t>(column, anchors, offset, count, swapped);
    case 32:
      return gather_integers<uint32_t, uint64_t>(column, anchors, offset, count, swapped);
    case 33:
      return gather_integers<int32_t, int64_t>(column, anchors, offset, count, swapped);
    case 64:
      return gather_integers<uint64_t, uint64_t>(column, anchors, offset, count, swapped);
    default:
      return gather_integers<int64_t, int64_t>(column, anchors, offset, count, swapped);
  }
}

uint64_t number_at(const FieldClass& field, const uint8_t* at) {
  const uint64_t value = load_swapped(at, field.size / 8, field.order == ByteOrder::big);
  return field.kind == Kind::integer && field.is_signed ? sign_extend(value, field.size) : value;
}

void append_number(Column& column, const FieldClass& field, const uint8_t* at) {
  const uint64_t value = number_at(field, at);
  if (field.kind == Kind::integer) return column.append_integer(value);
  column.append_real(field.size == 32
                         ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value)))
                         : std::bit_cast<double>(value));
}

// Where the bytes of a run or string of a waiting event are, without a string's NUL.
struct Bytes {
  const Gather& gather;
  const Plan& plan;
  bool is_string;
  uint64_t fixed;  // bytes of a run of fixed length

  std::span<const uint8_t> operator()(size_t i) const {
    const uint8_t* first = plan.anchors[gather.segment][i] + gather.offset;
    if (gather.field->length) return {first, fixed};
    const uint8_t* end = plan.anchors[gather.segment + 1][i];
    return {first, static_cast<size_t>(end - first) - (is_string ? 1 : 0)};
  }
};

void gather_bytes(Column& column, const Gather& gather, const Plan& plan) {
  const FieldClass& field = *gather.field;
  const Bytes bytes{gather, plan, field.kind == Kind::string, field.length.value_or(0)};
  if (column.type().kind == ColumnKind::dictionary) {
    auto* out = column.extend<int32_t>(plan.waiting);
    for (size_t i = 0; i < plan.waiting; ++i) out[i] = column.code(bytes(i), field.encoding);
    return;
  }
  for (size_t i = 0; i < plan.waiting; ++i) column.append_bytes(field, bytes(i));
}

void gather_list(Column& column, const Gather& gather, const Plan& plan) {
  const FieldClass& element = *gather.field->element;
  const size_t unit = element.size / 8;
  const Bytes bytes{gather, plan, false, gather.field->length.value_or(0) * unit};
  for (size_t i = 0; i < plan.waiting; ++i) {
    const auto run = bytes(i);
    for (size_t at = 0; at < run.size(); at += unit) {
      append_number(column.children().front(), element, run.data() + at);
    }
    column.end_value();
  }
}

void gather_packet(Column& column, const Gather& gather, const Plan& plan,
                   const std::vector<PacketValues>& shared) {
  auto* out = column.extend<uint64_t>(plan.waiting);
  for (size_t i = 0; i < plan.waiting; ++i)
    out[i] = shared[plan.streams[i]].integers[gather.member];
}

void gather_real(Column& column, const Gather& gather, const Plan& plan) {
  const uint8_t* const* anchors = plan.anchors[gather.segment].data();
  for (size_t i = 0; i < plan.waiting; ++i) {
    append_number(column, *gather.field, anchors[i] + gather.offset);
  }
}

void make_columns(Table& table, const std::vector<std::string>& hosts,
                  const std::shared_ptr<BlockPool>& pool) {
  if (!table.columns.empty()) return;
  table.columns.reserve(table.types->size());
  for (const auto& type : *table.types) {
    table.columns.emplace_back(type, pool);
    // Chunks are alike: growing step by step would copy every value once more.
    table.columns.back().reserve(table.usual_rows);
  }
  // Codes of hosts are the numbers of `hosts`.
  for (const auto& host : hosts) {
    table.columns[kHostColumn].code({reinterpret_cast<const uint8_t*>(host.data()), host.size()},
                                    Encoding::utf8);
  }
}

const FieldClass* root_of(const Plan& plan, Scope scope) {
  switch (scope) {
    case Scope::packet_context:
      return plan.stream->packet_context.get();
    case Scope::common_context:
      return plan.stream->event_context.get();
    case Scope::specific_context:
      return plan.event->context.get();
    case Scope::payload:
      return plan.event->payload.get();
    default:
      return nullptr;
  }
}

constexpr std::array kEventScopes = {Scope::common_context, Scope::specific_context,
                                     Scope::payload};

void append_scope(Plan& plan, Scope scope, BitCursor& cursor, Slots& slots) {
  const FieldClass* root = root_of(plan, scope);
  if (root == nullptr) return;
  const auto& wished = plan.wished[static_cast<size_t>(scope)];
  cursor.align(root->alignment);
  uint64_t steps = UINT64_MAX;  // They were counted when the event was measured.
  for (size_t i = 0; i < root->members.size(); ++i) {
    if (i >= wished.size() || wished[i] < 0) {
      Skip skip;
      decode_field(root->members[i].field.get(), cursor, slots, skip, steps);
    } else {
      Fill fill(plan.table->columns[static_cast<size_t>(wished[i])]);
      decode_field(root->members[i].field.get(), cursor, slots, fill, steps);
    }
  }
}

}  // namespace

void Plan::allocate() {
  constexpr size_t kMostCells = kWaiting * 256;
  most_waiting = std::clamp<size_t>(kMostCells / (gathers.size() + 1), 1, kWaiting);
  timestamps.resize(kWaiting);
  streams.resize(kWaiting);
  anchors.assign(program->segments.size(), std::vector<const uint8_t*>(kWaiting));
}

void flush(Plan& plan, const std::vector<PacketValues>& shared,
           const std::vector<std::string>& hosts, const std::shared_ptr<BlockPool>& pool) {
  if (plan.waiting == 0) return;
  Table& table = *plan.table;
  make_columns(table, hosts, pool);
  auto& columns = table.columns;
  std::memcpy(columns[kTimestampColumn].extend<int64_t>(plan.waiting), plan.timestamps.data(),
              plan.waiting * sizeof(int64_t));
  auto* codes = columns[kHostColumn].extend<int32_t>(plan.waiting);
  for (size_t i = 0; i < plan.waiting; ++i) codes[i] = shared[plan.streams[i]].host;
  for (const Gather& gather : plan.gathers) {
    Column& column = columns[gather.column];
    switch (gather.kind) {
      case Gather::Kind::integer:
        gather_integer(column, *gather.field, plan.anchors[gather.segment].data(), gather.offset,
                       plan.waiting);
        break;
      case Gather::Kind::real:
        gather_real(column, gather, plan);
        break;
      case Gather::Kind::bytes:
        gather_bytes(column, gather, plan);
        break;
      case Gather::Kind::list:
        gather_list(column, gather, plan);
        break;
      case Gather::Kind::packet:
        gather_packet(column, gather, plan, shared);
        break;
    }
  }
  plan.waiting = 0;
  plan.waiting_bytes = 0;
}

void append_event(Plan& plan, int64_t timestamp, const PacketValues& shared, Slots& slots,
                  uint64_t at, const std::vector<std::string>& hosts,
                  const std::shared_ptr<BlockPool>& pool) {
  Table& table = *plan.table;
  make_columns(table, hosts, pool);
  *table.columns[kTimestampColumn].extend<int64_t>(1) = timestamp;
  *table.columns[kHostColumn].extend<int32_t>(1) = shared.host;
  if (!plan.wished[static_cast<size_t>(Scope::packet_context)].empty()) {
    BitCursor cursor(shared.packet, shared.context_at, shared.content_bits);
    append_scope(plan, Scope::packet_context, cursor, slots);
  }
  BitCursor cursor(shared.packet, at, shared.content_bits);
  for (const Scope scope : kEventScopes) append_scope(plan, scope, cursor, slots);
}

uint64_t measure_event(const Plan& plan, const PacketValues& shared, Slots& slots, uint64_t at,
                       uint64_t& steps) {
  BitCursor cursor(shared.packet, at, shared.content_bits);
  Skip skip;
  const uint64_t most = std::min(steps, kMostSteps);
  uint64_t left = most;
  for (const Scope scope : kEventScopes) {
    decode_field(root_of(plan, scope), cursor, slots, skip, left);
  }
  steps -= most - left;
  return cursor.at();
}

const FieldClass& wished_field(const EventClassRef& event, const ColumnWish& wish) {
  Plan plan;
  plan.stream = event.stream;
  plan.event = event.event;
  return *root_of(plan, wish.scope)->members.at(wish.member).field;
}

bool make_gathers(Plan& plan, const std::vector<ColumnWish>& wishes) {
  // The general way counts what it costs to repeat a packet's fields in every event.
  constexpr size_t kMostContextFields = 256;
  const FieldClass* context = plan.stream->packet_context.get();
  if (context != nullptr && context->members.size() > kMostContextFields) return false;
  for (size_t i = 0; i < wishes.size(); ++i) {
    Gather gather;
    gather.column = kFirstWish + i;
    gather.member = wishes[i].member;
    if (wishes[i].scope == Scope::packet_context) {
      const FieldClass& field = *plan.stream->packet_context->members[wishes[i].member].field;
      if (field.kind != Kind::integer && field.kind != Kind::varint) return false;
      gather.kind = Gather::Kind::packet;
      plan.gathers.push_back(gather);
      continue;
    }
    for (const FieldPlace& place : plan.program->fields) {
      if (place.scope != wishes[i].scope || place.member != wishes[i].member) continue;
      gather.field = place.field;
      gather.segment = place.segment;
      gather.offset = place.offset;
    }
    const FieldClass& field = *gather.field;
    const bool listed = field.kind == Kind::array && type_of(field).kind == ColumnKind::list;
    gather.kind = field.kind == Kind::integer ? Gather::Kind::integer
                  : field.kind == Kind::real  ? Gather::Kind::real
                  : listed                    ? Gather::Kind::list
                                              : Gather::Kind::bytes;
    plan.gathers.push_back(gather);
  }
  return true;
}

}  // namespace ctf
