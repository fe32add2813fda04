// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "layers/links.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

namespace strata {
namespace {

// A message that a publication was made from; see LinkRows.
struct Cause {
  int64_t publication;
  int64_t parent;
  LinkKind kind;
  int64_t callback_ns;
  int64_t suspended_ns;
  int64_t stored_ns;
  int64_t hold_ns;
  int64_t there_ns;
};

int64_t positive(int64_t ns) { return ns > 0 ? ns : kNone; }

class Linking {
 public:
  Linking(const LinkPublications& published, const LinkCallbacks& callbacks,
          const LinkMessages& messages)
      : published_(published),
        callbacks_(callbacks),
        messages_(messages),
        message_of_(callbacks.size(), kNone) {
    for (size_t message = 0; message < messages.size(); ++message) {
      const int64_t execution = messages.execution[message];
      if (!is_row(execution, callbacks.size())) continue;
      message_of_[static_cast<size_t>(execution)] = static_cast<int64_t>(message);
    }
  }

  LinkRows link(const std::vector<DeclaredInput>& declared);

 private:
  void add_stored(const DeclaredInput& input, const RowsBy& by_publisher);
  void add_from(LinkKind kind, std::span<const uint32_t> rows, const Many<uint32_t>& entries,
                const Many<uint8_t>& is_input);
  Many<uint32_t> entries_of(const Many<uint8_t>& is_input) const;
  int64_t newest(const Many<uint32_t>& entries, int64_t process, int64_t at_ns) const;
  void add_telescoped(LinkKind kind, size_t publication, size_t entry);
  void keep_once();
  bool by_callback(size_t publication, Cause& cause) const;
  void add_links(size_t message, std::vector<Cause>& causes, LinkRows& rows) const;

  const LinkPublications& published_;
  const LinkCallbacks& callbacks_;
  const LinkMessages& messages_;
  Many<int64_t> message_of_;   // by execution
  std::vector<Cause> stored_;  // of declared links
};

// Which rows of a table a list names; NONE and what is no row of it are left out.
Many<uint8_t> marked(Ints rows, size_t count) {
  Many<uint8_t> is_one(count, 0);
  for (const int64_t row : rows) {
    if (is_row(row, count)) is_one[static_cast<size_t>(row)] = 1;
  }
  return is_one;
}

size_t rows_named(Ints column) {
  const auto highest = std::ranges::max_element(column);
  return highest == column.end() || *highest < 0 ? 0 : static_cast<size_t>(*highest) + 1;
}

bool has(const Many<uint8_t>& is_one, int64_t row) {
  return is_row(row, is_one.size()) && is_one[static_cast<size_t>(row)] != 0;
}

// Executions of an input's callbacks, by process and by when they were over.
Many<uint32_t> Linking::entries_of(const Many<uint8_t>& is_input) const {
  Many<uint32_t> entries;
  for (size_t row = 0; row < callbacks_.size(); ++row) {
    if (callbacks_.is_resumed[row] != 0 || !has(is_input, callbacks_.subscription[row])) continue;
    entries.push_back(static_cast<uint32_t>(row));
  }
  std::ranges::stable_sort(entries, {}, [&](uint32_t row) {
    return std::tie(callbacks_.process[row], callbacks_.over_ns[row]);
  });
  return entries;
}

// The execution that was over last at an instant.
int64_t Linking::newest(const Many<uint32_t>& entries, int64_t process, int64_t at_ns) const {
  const auto after = std::ranges::upper_bound(
      entries, std::tie(process, at_ns), {},
      [&](uint32_t row) { return std::tie(callbacks_.process[row], callbacks_.over_ns[row]); });
  if (after == entries.begin() || callbacks_.process[*(after - 1)] != process) return kNone;
  return *(after - 1);
}

void Linking::add_stored(const DeclaredInput& input, const RowsBy& by_publisher) {
  const Many<uint8_t> is_input = marked(input.subscriptions, rows_named(input.subscriptions));
  const Many<uint32_t> entries = entries_of(is_input);
  if (entries.empty()) return;
  const Many<uint8_t> is_output = marked(input.publishers, rows_named(input.publishers));
  for (size_t publisher = 0; publisher < is_output.size(); ++publisher) {
    if (is_output[publisher] == 0) continue;
    const auto rows = by_publisher.of(static_cast<int64_t>(publisher));
    add_from(input.kind, rows, entries, is_input);
  }
}

// What one publisher made from an input; its publications in order of time.
void Linking::add_from(LinkKind kind, std::span<const uint32_t> rows, const Many<uint32_t>& entries,
                       const Many<uint8_t>& is_input) {
  int64_t at_ns = 0, previous_ns = 0;
  bool is_first = true;
  for (const uint32_t publication : rows) {
    const int64_t begin_ns = published_.begin_ns[publication];
    // Several of one instant have the same one before them.
    if (is_first || begin_ns != at_ns) {
      previous_ns = is_first ? 0 : at_ns;
      at_ns = begin_ns;
      is_first = false;
    }
    const int64_t source = published_.execution[publication];
    // Published in the callback of this very input: that link is known without any declaration.
    if (has(is_input, pick(callbacks_.subscription, source))) continue;
    const int64_t entry = newest(entries, published_.process[publication], begin_ns);
    if (entry == kNone) continue;
    const auto row = static_cast<size_t>(entry);
    const bool is_old = callbacks_.start_ns[row] <= previous_ns;
    if (kind == LinkKind::partial_sync && is_old) continue;
    if (message_of_[row] != kNone) add_telescoped(kind, publication, row);
  }
}

void Linking::add_telescoped(LinkKind kind, size_t publication, size_t entry) {
  const int64_t until_ns = callbacks_.over_ns[entry], publish_ns = published_.begin_ns[publication];
  const int64_t suspended_ns = callbacks_.suspended_ns[entry];
  const int64_t source = published_.execution[publication];
  // Another thread's callback may have ended only while the one that publishes ran.
  const int64_t begun_ns =
      std::max(source != kNone ? pick(callbacks_.start_ns, source) : publish_ns, until_ns);
  stored_.push_back({static_cast<int64_t>(publication), message_of_[entry], kind,
                     minus(minus(until_ns, callbacks_.start_ns[entry]), suspended_ns),
                     positive(suspended_ns), minus(begun_ns, until_ns),
                     source != kNone ? minus(publish_ns, begun_ns) : kNone, until_ns});
}

// A link that was declared twice is one.
void Linking::keep_once() {
  std::ranges::sort(stored_, {}, [](const Cause& cause) {
    return std::tie(cause.publication, cause.parent, cause.kind);
  });
  const auto is_same = [](const Cause& one, const Cause& other) {
    return one.publication == other.publication && one.parent == other.parent;
  };
  stored_.erase(std::unique(stored_.begin(), stored_.end(), is_same), stored_.end());
}

bool Linking::by_callback(size_t publication, Cause& cause) const {
  const int64_t parent = pick(Ints(message_of_), published_.execution[publication]);
  if (parent == kNone) return false;
  const int64_t suspended_ns = std::max<int64_t>(published_.suspended_ns[publication], 0);
  const int64_t begin_ns = messages_.callback_start_ns[static_cast<size_t>(parent)];
  const int64_t hold_ns = minus(minus(published_.begin_ns[publication], begin_ns), suspended_ns);
  // The callback that publishes is there last: nothing else was waited for.
  cause = {static_cast<int64_t>(publication),
           parent,
           LinkKind::callback,
           kNone,
           positive(suspended_ns),
           kNone,
           hold_ns,
           std::numeric_limits<int64_t>::max()};
  return true;
}

void Linking::add_links(size_t message, std::vector<Cause>& causes, LinkRows& rows) const {
  std::ranges::stable_sort(causes, {}, &Cause::there_ns);
  for (const Cause& cause : causes) {
    rows.child.push_back(static_cast<int64_t>(message));
    rows.parent.push_back(cause.parent);
    rows.kind.push_back(static_cast<int64_t>(cause.kind));
    rows.callback_ns.push_back(cause.callback_ns);
    rows.suspended_ns.push_back(cause.suspended_ns);
    rows.stored_ns.push_back(cause.stored_ns);
    rows.hold_ns.push_back(cause.hold_ns);
    rows.is_critical.push_back(&cause == &causes.back() ? 1 : 0);
  }
}

LinkRows Linking::link(const std::vector<DeclaredInput>& declared) {
  if (!declared.empty()) {
    RowsBy by_publisher(published_.publisher, rows_named(published_.publisher));
    for (size_t publisher = 0; publisher < rows_named(published_.publisher); ++publisher) {
      const std::span<uint32_t> rows = by_publisher.of(static_cast<int64_t>(publisher));
      const auto begin_ns = [&](uint32_t row) { return published_.begin_ns[row]; };
      if (!std::ranges::is_sorted(rows, {}, begin_ns)) std::ranges::stable_sort(rows, {}, begin_ns);
    }
    for (const DeclaredInput& input : declared) add_stored(input, by_publisher);
    keep_once();
  }
  LinkRows rows;
  std::vector<Cause> causes;
  for (size_t message = 0; message < messages_.size(); ++message) {
    const int64_t publication = messages_.publication[message];
    if (!is_row(publication, published_.size())) continue;
    causes.clear();
    if (!stored_.empty()) {
      const auto begin = std::ranges::lower_bound(stored_, publication, {}, &Cause::publication);
      const auto end = std::ranges::upper_bound(stored_, publication, {}, &Cause::publication);
      causes.assign(begin, end);
    }
    Cause of_callback{};
    if (by_callback(static_cast<size_t>(publication), of_callback)) {
      std::erase_if(causes, [&](const Cause& one) { return one.parent == of_callback.parent; });
      causes.push_back(of_callback);
    }
    add_links(message, causes, rows);
  }
  return rows;
}

}  // namespace

LinkRows link_messages(const LinkPublications& published, const LinkCallbacks& callbacks,
                       const LinkMessages& messages, const std::vector<DeclaredInput>& declared) {
  require_one_length({{published.execution, published.publisher, published.process,
                       published.begin_ns, published.suspended_ns}});
  require_one_length({{callbacks.subscription, callbacks.process, callbacks.start_ns,
                       callbacks.over_ns, callbacks.suspended_ns}});
  require_one_length({{messages.publication, messages.execution, messages.callback_start_ns}});
  if (callbacks.is_resumed.size() != callbacks.size()) {
    throw std::invalid_argument("callbacks have " + std::to_string(callbacks.size()) + " and " +
                                std::to_string(callbacks.is_resumed.size()) + " rows");
  }
  return Linking(published, callbacks, messages).link(declared);
}

}  // namespace strata
