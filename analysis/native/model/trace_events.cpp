// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/trace_events.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "columns/column.hpp"
#include "columns/text.hpp"
#include "decode/fields.hpp"

namespace strata {
namespace {

using ctf::FieldClass;
using ctf::Scope;

const FieldClass* root_of(const ctf::Plan& plan, Scope scope) {
  switch (scope) {
    case Scope::common_context:
      return plan.stream->event_context.get();
    case Scope::specific_context:
      return plan.event->context.get();
    case Scope::payload:
      return plan.event->payload.get();
    default:
      return plan.stream->packet_context.get();
  }
}

int64_t number_at(const FieldClass& type, const uint8_t* at) {
  uint64_t value = ctf::load_swapped(at, type.size / 8, type.order == ctf::ByteOrder::big);
  if (type.kind == ctf::Kind::integer && type.is_signed) value = ctf::sign_extend(value, type.size);
  return static_cast<int64_t>(value);
}

bool is_whole(const FieldClass& type) {
  return type.kind == ctf::Kind::integer || type.kind == ctf::Kind::varint;
}

// What an optional field is when it is there.
const FieldClass& inner_of(const FieldClass& type) {
  const FieldClass* inner = &type;
  while (inner->kind == ctf::Kind::optional) inner = inner->members.front().field.get();
  return *inner;
}

std::string_view as_view(std::span<const uint8_t> bytes) {
  return bytes.empty()
             ? std::string_view()
             : std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

// The value of one field, decoded in the general way.
struct TraceEvents::Capture : ctf::Skip {
  bool is_there = false;  // an optional one may not be
  int64_t number = kNone;
  std::vector<uint8_t> content;
  std::vector<int64_t> numbers;
  int depth = 0;

  void integer(const FieldClass&, uint64_t value) {
    is_there = true;
    number = static_cast<int64_t>(value);
    if (depth == 0) return;
    numbers.push_back(number);
    content.push_back(static_cast<uint8_t>(value));
  }
  void bytes(const FieldClass&, std::span<const uint8_t> run) {
    is_there = true;
    content.assign(run.begin(), run.end());
  }
  void begin_array(const FieldClass&, uint64_t) {
    is_there = true;
    ++depth;
  }
  void end_array(const FieldClass&) { --depth; }
};

TraceEvents::TraceEvents(const ctf::TraceSet& traces, Engine& engine, int64_t latest_by,
                         std::span<const Arrival> announced, int64_t begin_ns, int64_t last_ns)
    : Merge(traces, begin_ns, last_ns),
      engine_(engine),
      allowed_(latest_by),
      host_text_(hosts().size(), kNone) {
  for (const ctf::EventClassRef& event : traces.event_classes()) make_plan(event);
  const auto is_operation_plan = [](const EventPlan& plan) { return is_operation(plan.kind); };
  const bool has_dumps = std::ranges::any_of(
      plans_, [](const EventPlan& plan) { return plan.kind == EventType::dump_begin; });
  if (latest_by > 0 || has_dumps || !announced.empty() ||
      std::ranges::any_of(plans_, is_operation_plan)) {
    intake_.emplace(engine, latest_by, has_dumps);
    intake_->announce(announced);
  }
  start();
}

void TraceEvents::make_plan(const ctf::EventClassRef& event) {
  EventPlan& plan = plans_.emplace_back();
  plan.stream = event.stream;
  plan.event = event.event;
  plan.is_wanted = true;
  plan.kind = event_named(event.event->name);
  if (plan.kind == EventType::other) {
    plan.text = engine_.strings().texts.number(event.event->name);
  }
  plan.program = ctf::make_program(*event.stream, *event.event);
  // The kernel's are of every process of the machine.
  const bool is_of_process =
      plan.kind != EventType::other || plan.event->name.find(':') != std::string::npos;
  // The first context of a name is the one.
  for (const Scope scope :
       {Scope::common_context, Scope::specific_context, Scope::packet_context, Scope::payload}) {
    if (is_of_process) add_loads(plan, scope, root_of(plan, scope));
  }
  if (plan.program) {
    for (Load& load : plan.loads) {
      for (const ctf::FieldPlace& place : plan.program->fields) {
        if (place.scope != load.scope || place.member != load.member) continue;
        load.segment = place.segment;
        load.offset = place.offset;
      }
    }
    split_numbers(plan);
    split_name(plan);
  }
  read_by(event, plan);
}

void TraceEvents::add_loads(EventPlan& plan, Scope scope, const FieldClass* root) {
  if (root == nullptr) return;
  constexpr std::array<std::pair<std::string_view, Target>, 5> kContexts = {
      {{"vpid", Target::vpid},
       {"vtid", Target::vtid},
       {"pid_ns", Target::pid_ns},
       {"procname", Target::procname},
       {"cpu_id", Target::cpu}}};
  const auto add = [&](Load load, FieldKind wanted, const FieldClass& type, size_t member) {
    const auto same = [&load](const Load& known) {
      return known.target == load.target && known.field == load.field;
    };
    if (std::ranges::any_of(plan.loads, same)) return;
    load.scope = scope;
    load.member = static_cast<uint32_t>(member);
    load.type = &inner_of(type);
    load.source = source_of(*load.type, wanted, scope);
    plan.loads.push_back(load);
  };
  for (size_t i = 0; i < root->members.size(); ++i) {
    const std::string_view name = root->members[i].name;
    const FieldClass& type = *root->members[i].field;
    if (scope != Scope::payload) {
      // What a packet says of itself is no column of its events.
      if (scope == Scope::packet_context && type.roles != 0) continue;
      for (const auto& [context, target] : kContexts) {
        if (context != name) continue;
        const bool is_text = target == Target::procname;
        add({.target = target, .source = {}, .scope = scope},
            is_text ? FieldKind::text : FieldKind::number, type, i);
      }
    } else if (plan.kind != EventType::other) {
      const size_t first = first_field(plan.kind);
      for (uint8_t k = 0; k < kEvents[static_cast<size_t>(plan.kind)].fields; ++k) {
        const FieldDeclaration& declared = kFields[first + k];
        if (declared.name != name && declared.column != name) continue;
        add({.target = Target::field, .field = k, .source = {}, .scope = scope}, declared.kind,
            type, i);
      }
    }
  }
}

void TraceEvents::split_numbers(EventPlan& plan) {
  const auto offset_of = [](const Load& load) -> size_t {
    switch (load.target) {
      case Target::field:
        return offsetof(Arrival, event) + offsetof(Event, value) + load.field * sizeof(int64_t);
      case Target::vpid:
        return offsetof(Arrival, place) + offsetof(Place, vpid);
      case Target::vtid:
        return offsetof(Arrival, place) + offsetof(Place, vtid);
      case Target::pid_ns:
        return offsetof(Arrival, place) + offsetof(Place, pid_ns);
      default:
        return 0;
    }
  };
  std::erase_if(plan.loads, [&](const Load& load) {
    const size_t into = offset_of(load);
    if (load.source != Source::number || into == 0) return false;
    const FieldClass& type = *load.type;
    const unsigned bits = type.size;
    const bool is_whole = bits == 8 || bits == 16 || bits == 32 || bits == 64;
    if (type.order == ctf::ByteOrder::big || !is_whole) return false;
    const bool is_signed = type.kind == ctf::Kind::integer && type.is_signed;
    plan.numbers.push_back({.mask = UINT64_MAX >> (64 - bits),
                            .sign = is_signed ? uint64_t{1} << (bits - 1) : 0,
                            .offset = load.offset,
                            .segment = static_cast<uint16_t>(load.segment),
                            .into = static_cast<uint16_t>(into)});
    if (load.target == Target::field) {
      plan.present = static_cast<uint16_t>(plan.present | 1U << load.field);
    }
    return true;
  });
  if (plan.kind == EventType::other) return;
  for (uint8_t field = 0; field < kEvents[static_cast<size_t>(plan.kind)].fields; ++field) {
    if ((plan.present >> field & 1) == 0) plan.others.push_back(field);
  }
}

void TraceEvents::split_name(EventPlan& plan) {
  std::erase_if(plan.loads, [&](const Load& load) {
    if (load.target != Target::procname || load.source != Source::text) return false;
    if (!load.type->length || load.type->kind == ctf::Kind::string) return false;
    const uint64_t size = *load.type->length;
    if (size < Name::kLeast || size > Name::kMost) return false;
    plan.name = {load.segment, load.offset, static_cast<uint32_t>(size), load.type->encoding};
    return true;
  });
}

TraceEvents::Source TraceEvents::source_of(const FieldClass& type, FieldKind wanted, Scope scope) {
  const ctf::ColumnType column = ctf::type_of(type);
  if (scope == Scope::packet_context) {
    return is_whole(type) && wanted == FieldKind::number ? Source::packet : Source::misfit;
  }
  switch (wanted) {
    case FieldKind::number:
      return is_whole(type) ? Source::number : Source::misfit;
    case FieldKind::text:
      return column.kind == ctf::ColumnKind::dictionary ? Source::text : Source::misfit;
    case FieldKind::bytes:
      return column.kind == ctf::ColumnKind::binary ? Source::bytes : Source::misfit;
    case FieldKind::list: {
      const bool is_list = column.kind == ctf::ColumnKind::list && is_whole(*type.element);
      return is_list ? Source::list : Source::misfit;
    }
  }
  return Source::misfit;
}

bool TraceEvents::push(uint64_t events) {
  left_ = events;
  if (events == 0 || go_on()) return true;
  if (intake_) intake_->finish();
  return false;
}

bool TraceEvents::take(ctf::StreamCursor& cursor) {
  auto& plan = static_cast<EventPlan&>(*cursor.plan);
  ++events_;
  // It is all to be read again: only how late steps and announcements come is of interest yet.
  if (too_late_by() > allowed_ && !Intake::looks_back(plan.kind)) return --left_ > 0;
  const bool has_program = plan.program.has_value();
  Arrival& arrival = intake_       ? intake_->next(cursor.time)
                     : has_program ? engine_.next_of_any_values(cursor.time)
                                   : engine_.next(cursor.time);
  arrival.event.type = plan.kind;
  arrival.name = plan.text;
  if (is_operation(plan.kind) && cursor.counts_ns()) {
    arrival.clock = static_cast<int64_t>(cursor.cycles());
  }
  const int64_t name = host(shared(cursor).host);
  arrival.event.host = static_cast<int32_t>(name);
  arrival.place.host = name;
  if (has_program) {
    read_numbers(arrival, plan, cursor);
    if (plan.name.size > 0) arrival.event.procname = this->name(arrival, plan.name, cursor);
    fill(arrival, plan, cursor);
  } else {
    fill_generally(arrival, plan, cursor);
  }
  return --left_ > 0;
}

int64_t TraceEvents::host(int32_t code) {
  int64_t& number = host_text_[static_cast<size_t>(code)];
  if (number == kNone) {
    number = engine_.strings().texts.number(hosts()[static_cast<size_t>(code)]);
  }
  return number;
}

void TraceEvents::set(Arrival& arrival, const Load& load, int64_t value) const {
  switch (load.target) {
    case Target::field:
      arrival.event.value[load.field] = value;
      arrival.event.present = static_cast<uint16_t>(arrival.event.present | 1U << load.field);
      break;
    case Target::vpid:
      arrival.place.vpid = value;
      break;
    case Target::vtid:
      arrival.place.vtid = value;
      break;
    case Target::pid_ns:
      arrival.place.pid_ns = value;
      break;
    case Target::procname:
      arrival.event.procname = static_cast<int32_t>(value);
      break;
    case Target::cpu:
      arrival.event.cpu = cpu_number(value);
      break;
  }
}

void TraceEvents::read_numbers(Arrival& arrival, const EventPlan& plan,
                               const ctf::StreamCursor& cursor) {
  auto* bytes = reinterpret_cast<uint8_t*>(&arrival);
  for (const Number& number : plan.numbers) {
    // Behind a packet there are bytes to read.
    const uint8_t* at = cursor.anchor(number.segment) + number.offset;
    const uint64_t own = ctf::load_bytes(at, 8) & number.mask;
    const uint64_t value = (own ^ number.sign) - number.sign;
    std::memcpy(bytes + number.into, &value, sizeof value);
  }
  for (const uint8_t field : plan.others) arrival.event.value[field] = kNone;
  arrival.event.present = plan.present;
}

void TraceEvents::fill(Arrival& arrival, const EventPlan& plan, const ctf::StreamCursor& cursor) {
  for (const Load& load : plan.loads) {
    if (load.source == Source::misfit) continue;
    set(arrival, load, value_of(plan, load, cursor));
  }
}

int64_t TraceEvents::value_of(const EventPlan& plan, const Load& load,
                              const ctf::StreamCursor& cursor) {
  if (load.source == Source::packet) {
    return static_cast<int64_t>(shared(cursor).integers[load.member]);
  }
  const uint8_t* at = cursor.anchor(load.segment) + load.offset;
  if (load.source == Source::number) return number_at(*load.type, at);
  const size_t unit = load.source == Source::list ? load.type->element->size / 8 : 1;
  size_t size = load.type->length.value_or(0) * unit;
  if (!load.type->length) {
    size = static_cast<size_t>(cursor.anchor(load.segment + 1) - at);
    if (load.type->kind == ctf::Kind::string) --size;
  }
  const std::span<const uint8_t> bytes(at, size);
  if (load.source == Source::text) return text(bytes, load.type->encoding);
  Strings& strings = engine_.strings();
  if (load.source == Source::bytes) return strings.bytes.number(as_view(bytes));
  auto& list = strings.lists.emplace_back();
  for (size_t i = 0; i < size; i += unit) list.push_back(number_at(*load.type->element, at + i));
  static_cast<void>(plan);
  return static_cast<int64_t>(strings.lists.size()) - 1;
}

int64_t TraceEvents::text(std::span<const uint8_t> bytes, ctf::Encoding encoding) {
  Interner& texts = engine_.strings().texts;
  const size_t size = bytes.size();
  if (size < 8 || size > Name::kMost) return texts.number(ctf::to_utf8(bytes, encoding));
  const auto word_at = [&](size_t at) { return ctf::load_bytes(bytes.data() + at, 8); };
  const std::array<uint64_t, 3> words = {word_at(0), word_at(std::min<size_t>(8, size - 8)),
                                         word_at(size - 8)};
  const uint64_t hash = (words[0] ^ words[2] * 3 ^ size) * 0x9e3779b97f4a7c15U;
  RecentName& recent = recent_texts_[hash >> 58U];
  if (recent.size != size || recent.encoding != encoding || recent.words != words) {
    const int64_t number = texts.number(ctf::to_utf8(bytes, encoding));
    recent = {words, static_cast<uint32_t>(size), encoding, static_cast<int32_t>(number)};
  }
  return recent.number;
}

// Mostly the one that the thread had before.
int32_t TraceEvents::name(const Arrival& arrival, const Name& name,
                          const ctf::StreamCursor& cursor) {
  const uint8_t* at = cursor.anchor(name.segment) + name.offset;
  const std::array<uint64_t, 3> words = {ctf::load_bytes(at, 8), ctf::load_bytes(at + 8, 8),
                                         ctf::load_bytes(at + name.size - 8, 8)};
  RecentName& recent = recent_[static_cast<size_t>(arrival.place.vtid) % recent_.size()];
  const uint64_t different =
      (words[0] ^ recent.words[0]) | (words[1] ^ recent.words[1]) | (words[2] ^ recent.words[2]);
  if (different == 0 && recent.size == name.size && recent.encoding == name.encoding) {
    return recent.number;
  }
  recent = {words, name.size, name.encoding,
            static_cast<int32_t>(text({at, name.size}, name.encoding))};
  return recent.number;
}

void TraceEvents::fill_generally(Arrival& arrival, const EventPlan& plan,
                                 ctf::StreamCursor& cursor) {
  const ctf::PacketValues& packet = shared(cursor);
  ctf::BitCursor bits(packet.packet, cursor.body(), packet.content_bits);
  uint64_t steps = UINT64_MAX;  // They were counted when the event was measured.
  for (const Scope scope : {Scope::common_context, Scope::specific_context, Scope::payload}) {
    const FieldClass* root = root_of(plan, scope);
    if (root == nullptr) continue;
    bits.align(root->alignment);
    for (size_t i = 0; i < root->members.size(); ++i) {
      Capture capture;
      ctf::decode_field(root->members[i].field.get(), bits, cursor.slots(), capture, steps);
      for (const Load& load : plan.loads) {
        if (load.scope == scope && load.member == i) set_captured(arrival, load, capture);
      }
    }
  }
  for (const Load& load : plan.loads) {
    if (load.source == Source::packet) {
      set(arrival, load, static_cast<int64_t>(packet.integers[load.member]));
    }
  }
}

void TraceEvents::set_captured(Arrival& arrival, const Load& load, const Capture& capture) {
  if (!capture.is_there) return;
  Strings& strings = engine_.strings();
  switch (load.source) {
    case Source::number:
      return set(arrival, load, capture.number);
    case Source::text:
      return set(arrival, load, text(capture.content, load.type->encoding));
    case Source::bytes:
      return set(arrival, load, strings.bytes.number(as_view(capture.content)));
    case Source::list:
      strings.lists.push_back(capture.numbers);
      return set(arrival, load, static_cast<int64_t>(strings.lists.size()) - 1);
    case Source::packet:
    case Source::misfit:
      return;
  }
}

}  // namespace strata
