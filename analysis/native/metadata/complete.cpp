// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_set>

#include "metadata/metadata.hpp"

namespace ctf {
namespace {

constexpr size_t kScopes = 6;
constexpr std::array<const char*, kScopes> kScopeNames = {"packet header", "packet context",
                                                          "event header",  "stream event context",
                                                          "event context", "fields"};

// Walks the roots of one event class in the order of decoding.
class Resolver {
 public:
  explicit Resolver(Layout& layout) : layout_(layout) {}

  void run();

 private:
  struct Step {
    FieldClass* parent;
    size_t index;  // of the member in which the walk is
  };

  void root(Scope scope, FieldClass* field, const std::string& where);
  void visit(FieldClass& field);
  void resolve(FieldClass& field);
  FieldClass* target(const Reference& reference);
  FieldClass* descend(FieldClass* field, const std::vector<std::string>& path) const;
  void options_from_labels(FieldClass& variant, const FieldClass& tag);
  void clock_of(FieldClass& field);
  [[noreturn]] void fail(const std::string& place, const std::string& fact) const;

  Layout& layout_;
  std::array<FieldClass*, kScopes> roots_{};
  std::vector<Step> stack_;
  std::unordered_set<const FieldClass*> decoded_;
  std::string where_;
};

void Resolver::fail(const std::string& place, const std::string& fact) const {
  throw MetadataError(place.empty() ? where_ : place, fact);
}

void Resolver::run() {
  root(Scope::packet_header, layout_.packet_header.get(), "trace");
  for (auto& [id, stream] : layout_.streams) {
    const std::string where = "stream " + std::to_string(id);
    root(Scope::packet_context, stream.packet_context.get(), where);
    root(Scope::event_header, stream.event_header.get(), where);
    root(Scope::common_context, stream.event_context.get(), where);
    for (auto& [event_id, event] : stream.events) {
      root(Scope::specific_context, event.context.get(), "event " + event.name);
      root(Scope::payload, event.payload.get(), "event " + event.name);
    }
  }
}

void Resolver::root(Scope scope, FieldClass* field, const std::string& where) {
  const auto index = static_cast<size_t>(scope);
  roots_[index] = field;
  std::fill(roots_.begin() + static_cast<ptrdiff_t>(index) + 1, roots_.end(), nullptr);
  if (field == nullptr) return;
  where_ = where + ", " + kScopeNames[index];
  if (field->kind != Kind::structure) fail("", "it is no structure");
  visit(*field);
}

void Resolver::visit(FieldClass& field) {
  if (field.order == ByteOrder::native) field.order = layout_.order;
  decoded_.insert(&field);
  clock_of(field);
  const bool refers =
      field.kind == Kind::variant || field.kind == Kind::optional ||
      ((field.kind == Kind::array || field.kind == Kind::text || field.kind == Kind::blob) &&
       !field.length);
  if (refers) resolve(field);
  if (field.element) {
    visit(*field.element);
    field.alignment = std::max(field.alignment, field.element->alignment);
  }
  stack_.push_back({&field, 0});
  for (size_t i = 0; i < field.members.size(); ++i) {
    stack_.back().index = i;
    visit(*field.members[i].field);
    field.weight += field.members[i].field->weight;
    if (field.kind == Kind::structure) {
      field.alignment = std::max(field.alignment, field.members[i].field->alignment);
    }
  }
  stack_.pop_back();
}

void Resolver::clock_of(FieldClass& field) {
  if (field.clock_name.empty()) return;
  for (size_t i = 0; i < layout_.clocks.size(); ++i) {
    if (layout_.clocks[i].name == field.clock_name) field.clock = static_cast<int>(i);
  }
  if (field.clock < 0) fail("", "the clock `" + field.clock_name + "` is not declared");
}

FieldClass* Resolver::descend(FieldClass* field, const std::vector<std::string>& path) const {
  for (const auto& name : path) {
    if (field == nullptr || field->kind != Kind::structure) return nullptr;
    FieldClass* next = nullptr;
    for (auto& member : field->members) {
      if (member.name == name) next = member.field.get();
    }
    field = next;
  }
  return field;
}

FieldClass* Resolver::target(const Reference& reference) {
  if (reference.root) return descend(roots_[static_cast<size_t>(*reference.root)], reference.path);
  unsigned parents = reference.parents;
  for (auto step = stack_.rbegin(); step != stack_.rend(); ++step) {
    if (step->parent->kind != Kind::structure) continue;
    if (parents > 0) {
      --parents;
      continue;
    }
    for (size_t i = 0; i < step->index; ++i) {
      if (step->parent->members[i].name != reference.path.front()) continue;
      const std::vector<std::string> rest(reference.path.begin() + 1, reference.path.end());
      return descend(step->parent->members[i].field.get(), rest);
    }
  }
  return nullptr;
}

void Resolver::resolve(FieldClass& field) {
  Reference& reference = field.reference;
  std::string shown;
  for (const auto& name : reference.path) shown += (shown.empty() ? "" : ".") + name;
  FieldClass* found = reference.path.empty() ? nullptr : target(reference);
  if (found == nullptr || !decoded_.contains(found)) {
    fail(reference.place, "no field `" + shown + "` is decoded before the field that refers to it");
  }
  const bool selects = field.kind == Kind::variant || field.kind == Kind::optional;
  if (found->kind != Kind::integer && found->kind != Kind::varint) {
    fail(reference.place, "the field `" + shown + "` is no integer");
  }
  if (!selects && found->is_signed) {
    fail(reference.place, "the length field `" + shown + "` is signed");
  }
  if (found->slot < 0) found->slot = layout_.slot_count++;
  reference.slot = found->slot;
  // Ranges of options are compared with the signedness of their selector.
  field.is_signed = found->is_signed;
  if (field.kind == Kind::variant && layout_.version == 1) options_from_labels(field, *found);
}

void Resolver::options_from_labels(FieldClass& variant, const FieldClass& tag) {
  if (tag.labels.empty()) fail(variant.reference.place, "the tag of the variant is no enumeration");
  for (auto& option : variant.members) {
    for (const auto& label : tag.labels) {
      if (label.name != option.name) continue;
      option.ranges.insert(option.ranges.end(), label.ranges.begin(), label.ranges.end());
    }
  }
}

void turn_into_text(FieldClass& field) {
  if (field.element) turn_into_text(*field.element);
  for (auto& member : field.members) turn_into_text(*member.field);
  if (field.kind != Kind::array) return;
  const FieldClass& element = *field.element;
  if (element.kind != Kind::integer || element.size != 8 || element.alignment > 8 ||
      element.encoding == Encoding::none) {
    return;
  }
  field.kind = Kind::text;
  field.encoding = element.encoding;
  field.alignment = std::max(field.alignment, 8U);
  field.element.reset();
}

// Producers of CTF 1.8 put an underscore before every name that might be a keyword of TSDL.
void strip_underscores(FieldClass& field) {
  if (field.element) strip_underscores(*field.element);
  for (auto& member : field.members) {
    if (member.name.size() > 1 && member.name.front() == '_') member.name.erase(0, 1);
    strip_underscores(*member.field);
  }
}

template <typename Act>
void for_each_root(Layout& layout, Act act) {
  const auto each = [&](FieldPtr& field) {
    if (field) act(*field);
  };
  each(layout.packet_header);
  for (auto& [id, stream] : layout.streams) {
    each(stream.packet_context);
    each(stream.event_header);
    each(stream.event_context);
    for (auto& [event_id, event] : stream.events) {
      each(event.context);
      each(event.payload);
    }
  }
}

void collect_clocks(const FieldClass& field, std::unordered_set<int>& clocks) {
  if (field.clock >= 0) clocks.insert(field.clock);
  if (field.element) collect_clocks(*field.element, clocks);
  for (const auto& member : field.members) collect_clocks(*member.field, clocks);
}

void choose_clock(StreamClass& stream) {
  std::unordered_set<int> clocks;
  if (stream.packet_context) collect_clocks(*stream.packet_context, clocks);
  if (stream.event_header) collect_clocks(*stream.event_header, clocks);
  if (clocks.size() > 1) {
    throw MetadataError("stream " + std::to_string(stream.id),
                        "its fields are values of several clocks, which is not supported");
  }
  if (!clocks.empty()) stream.clock = *clocks.begin();
}

// Of several classes, packets and events must say which one they are of.
void check_ids(const Layout& layout) {
  const auto says = [](const FieldPtr& header, uint16_t role) {
    return header && has_role(*header, role);
  };
  if (layout.streams.size() > 1 && !says(layout.packet_header, stream_class_id)) {
    throw MetadataError("trace, packet header",
                        "it has no field for the id of one of several stream classes");
  }
  for (const auto& [id, stream] : layout.streams) {
    if (stream.events.size() > 1 && !says(stream.event_header, event_class_id)) {
      throw MetadataError("stream " + std::to_string(id) + ", event header",
                          "it has no field for the id of one of several event classes");
    }
  }
}

}  // namespace

void complete(Layout& layout) {
  Resolver(layout).run();
  check_ids(layout);
  if (layout.version == 1) {
    for_each_root(layout, turn_into_text);
    for_each_root(layout, strip_underscores);
    for (auto& [id, stream] : layout.streams) choose_clock(stream);
  }
}

}  // namespace ctf
