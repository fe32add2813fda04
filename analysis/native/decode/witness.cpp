// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/witness.hpp"

#include <algorithm>
#include <map>

namespace ctf {
namespace {

constexpr uint64_t kPage = 4096;  // bytes: LTTng pads packets to whole pages

uint64_t number_of(const Layout& layout, const char* name) {
  for (const auto& [key, value] : layout.environment) {
    const auto* number = std::get_if<int64_t>(&value);
    if (key == name && number != nullptr && *number >= 0) return static_cast<uint64_t>(*number);
  }
  return 0;
}

// What a header and the index say of one packet.
struct Pair {
  uint64_t header;
  uint64_t index;

  uint64_t least() const { return std::min(header, index); }
  uint64_t most() const { return std::max(header, index); }
  bool has(uint64_t value) const { return header == value || index == value; }
};

enum class Choice : uint8_t { header, index, open };

// The one that fits, and the other does not.
template <typename Fits>
Choice choose(const Pair& pair, Fits fits) {
  const bool header = fits(pair.header);
  const bool index = fits(pair.index);
  return header == index ? Choice::open : header ? Choice::header : Choice::index;
}

class IndexWitness {
 public:
  IndexWitness(const IndexFile& index, std::vector<Packet>& packets)
      : packets_(packets), entries_(packets.size(), nullptr) {
    std::map<uint64_t, const IndexEntry*> by_offset;
    for (const auto& entry : index.entries) by_offset.emplace(entry.offset, &entry);
    for (size_t i = 0; i < packets.size(); ++i) {
      const auto known = by_offset.find(packets[i].offset);
      if (known != by_offset.end() && is_same(packets[i], *known->second)) {
        entries_[i] = known->second;
      }
    }
    match_moved(index);
  }

  const std::vector<const IndexEntry*>& entries() const { return entries_; }

  // How many packets have an entry that says something else.
  size_t differing() const {
    size_t count = 0;
    for (size_t i = 0; i < packets_.size(); ++i) count += differs(i) ? 1 : 0;
    return count;
  }
  size_t matched() const {
    return packets_.size() - static_cast<size_t>(std::ranges::count(entries_, nullptr));
  }

  // Returns how many headers were mended.
  uint64_t mend() {
    std::vector<Packet> mended = packets_;
    for (size_t i = 0; i < packets_.size(); ++i) {
      if (entries_[i] == nullptr) continue;
      mended[i].is_confirmed = true;
      if (differs(i)) mend(i, mended[i]);
    }
    uint64_t count = 0;
    for (size_t i = 0; i < packets_.size(); ++i) {
      count += says(mended[i]) == says(packets_[i]) ? 0 : 1;
    }
    packets_ = std::move(mended);
    return count;
  }

 private:
  static std::array<uint64_t, 5> says(const Packet& packet) {
    return {packet.begin, packet.end, packet.content_bits, packet.sequence, packet.discarded};
  }
  static std::array<uint64_t, 5> says(const Packet& packet, const IndexEntry& entry) {
    const auto known = [](uint64_t own, uint64_t other) {
      return own == Packet::kNone ? own : other;
    };
    return {known(packet.begin, entry.begin), known(packet.end, entry.end), entry.content_bits,
            known(packet.sequence, entry.sequence.value_or(packet.sequence)),
            known(packet.discarded, entry.discarded)};
  }

  // A header and an entry of one packet may differ in what is damaged, and not in most.
  static bool is_same(const Packet& packet, const IndexEntry& entry) {
    const auto own = says(packet);
    const auto other = says(packet, entry);
    int equal = packet.bytes == entry.bytes ? 1 : 0;
    for (size_t i = 0; i < own.size(); ++i) {
      equal += own[i] == other[i] && own[i] != Packet::kNone ? 1 : 0;
    }
    return equal >= 3;
  }

  // Where packets were taken out of a file, those behind stand at other offsets.
  void match_moved(const IndexFile& index) {
    std::map<std::pair<uint64_t, uint64_t>, const IndexEntry*> by_times;
    for (const auto& entry : index.entries)
      by_times.emplace(std::pair(entry.begin, entry.end), &entry);
    for (size_t i = 0; i < packets_.size(); ++i) {
      if (entries_[i] != nullptr) continue;
      const auto known = by_times.find({packets_[i].begin, packets_[i].end});
      if (known != by_times.end() && is_same(packets_[i], *known->second)) {
        entries_[i] = known->second;
      }
    }
  }

  bool differs(size_t i) const {
    if (entries_[i] == nullptr) return false;
    const Packet& packet = packets_[i];
    const IndexEntry& entry = *entries_[i];
    return says(packet) != says(packet, entry) || packet.bytes != entry.bytes ||
           packet.stream->id != entry.stream_class ||
           packet.instance != entry.instance.value_or(packet.instance);
  }

  Pair pair(size_t i, size_t field) const {
    const uint64_t own = says(packets_[i])[field];
    return {own, entries_[i] == nullptr ? own : says(packets_[i], *entries_[i])[field]};
  }
  Pair begin(size_t i) const { return pair(i, 0); }
  Pair end(size_t i) const { return pair(i, 1); }
  bool has_before(size_t i) const { return i > 0; }
  bool has_after(size_t i) const { return i + 1 < packets_.size(); }

  void mend(size_t i, Packet& packet) const {
    const IndexEntry& entry = *entries_[i];
    if (packet.begin != Packet::kNone && packet.begin != entry.begin) {
      const Choice choice = chosen_begin(i);
      if (choice == Choice::index) packet.begin = entry.begin;
      if (choice == Choice::open) packet.index_begin = entry.begin;
    }
    if (packet.end != entry.end && chosen_end(i) == Choice::index) packet.end = entry.end;
    const auto in_last_page = [&](uint64_t bits) {
      return bits <= packet.bytes * 8 && bits > packet.events_at &&
             packet.bytes * 8 - bits < kPage * 8;
    };
    if (choose(pair(i, 2), in_last_page) == Choice::index) packet.content_bits = entry.content_bits;
    if (choose_counted(i, 3, true) == Choice::index) packet.sequence = *entry.sequence;
    if (choose_counted(i, 4, false) == Choice::index) packet.discarded = entry.discarded;
  }

  // LTTng ends a packet and begins the next at one reading of the clock.
  Choice chosen_begin(size_t i) const {
    const Pair own = begin(i);
    const auto follows = [&](uint64_t ns) { return has_before(i) && end(i - 1).has(ns); };
    const Choice exact = choose(own, follows);
    if (exact != Choice::open) return exact;
    const Choice fitting = choose(own, [&](uint64_t ns) {
      return (!has_before(i) || ns >= end(i - 1).least()) && ns <= end(i).most();
    });
    return fitting;
  }

  Choice chosen_end(size_t i) const {
    const Pair own = end(i);
    const auto precedes = [&](uint64_t ns) { return has_after(i) && begin(i + 1).has(ns); };
    const Choice exact = choose(own, precedes);
    if (exact != Choice::open) return exact;
    const Choice fitting = choose(own, [&](uint64_t ns) {
      return ns >= begin(i).least() && (!has_after(i) || ns <= begin(i + 1).most());
    });
    // No event is lost by an end that is too late.
    return fitting == Choice::open && own.index > own.header ? Choice::index : fitting;
  }

  // A number that goes on from packet to packet, by one or by any amount.
  Choice choose_counted(size_t i, size_t field, bool by_one) const {
    const Pair own = pair(i, field);
    if (own.header == own.index) return Choice::header;
    if (by_one) {
      const Choice exact = choose(own, [&](uint64_t n) {
        return (has_before(i) && pair(i - 1, field).has(n - 1)) ||
               (has_after(i) && pair(i + 1, field).has(n + 1));
      });
      if (exact != Choice::open) return exact;
      // The only packet of a stream is its first.
      return choose(own, [](uint64_t n) { return n == 0; });
    }
    const Choice fitting = choose(own, [&](uint64_t n) {
      return (!has_before(i) || n >= pair(i - 1, field).least()) &&
             (!has_after(i) || n <= pair(i + 1, field).most());
    });
    // Of a count that nothing bounds the smaller is more likely: damage makes large numbers.
    return fitting == Choice::open && own.index < own.header ? Choice::index : fitting;
  }

  std::vector<Packet>& packets_;
  std::vector<const IndexEntry*> entries_;
};

// Whether the index is one of packets that follow each other, as a recorder writes it.
bool is_coherent(const std::vector<IndexEntry>& entries) {
  for (size_t i = 0; i < entries.size(); ++i) {
    const IndexEntry& own = entries[i];
    if (own.begin > own.end || own.bytes == 0 || own.content_bits / 8 > own.bytes) return false;
    if (i == 0) continue;
    const IndexEntry& before = entries[i - 1];
    if (own.offset != before.offset + before.bytes || own.begin < before.end) return false;
  }
  return true;
}

// Whether a packet begins before the one before it ended.
bool overlap(const Packet& before, const Packet& own) {
  if (before.is_confirmed && own.is_confirmed) return false;
  if (before.end == Packet::kNone || before.end == 0 || before.begin == Packet::kNone) return false;
  return own.begin < before.end;
}

// Takes the end of the first for the begin of the second, or the other way round; where both are
// possible, neither is trusted.
void join(Packet& before, Packet& own) {
  const auto is_possible = [&](uint64_t at) {
    return before.begin <= at && (own.end == 0 || at <= own.end);
  };
  const bool end = is_possible(before.end);
  const bool begin = is_possible(own.begin);
  if (end && !begin) own.begin = before.end;
  if (begin && !end) before.end = own.begin;
  if (begin != end) return;
  const auto [least, most] = std::minmax(before.end, own.begin);
  own.begin_is_lost = true;
  own.begin = end ? least : before.begin;
  before.end = end ? most : Packet::kNone;
}

}  // namespace

bool has_strict_times(const Layout& layout) {
  for (const auto& [name, value] : layout.environment) {
    const auto* text = std::get_if<std::string>(&value);
    if (name != "tracer_name" || text == nullptr || !text->starts_with("lttng")) continue;
    const uint64_t major = number_of(layout, "tracer_major");
    return major > 2 || (major == 2 && number_of(layout, "tracer_minor") >= 11);
  }
  return false;
}

void hold_against_index(const Layout& layout, size_t file, uint64_t bytes, const IndexFile& index,
                        std::vector<Packet>& packets, PacketIndex& found) {
  IndexWitness witness(index, packets);
  const size_t differing = witness.differing();
  const size_t matched = witness.matched();
  // An index of which most is wrong is no witness: it is of another stream, or damaged itself.
  if (!packets.empty() && (matched == 0 || (differing > 1 && differing * 2 > matched))) {
    found.faults.push_back({file, "it is not of this stream's packets"});
    return;
  }
  const uint64_t mended = witness.mend();
  // Of the first packet's begin the other streams tell more.
  const uint64_t open = !packets.empty() && packets.front().index_begin != Packet::kNone ? 1 : 0;
  if (mended > 0) found.mended.push_back({file, mended});
  if (differing > mended + open) found.faults.push_back({file, kContradicts});
  std::vector<const IndexEntry*> known = witness.entries();
  std::ranges::sort(known);
  const bool coherent = is_coherent(index.entries);
  bool told = differing > mended + open;
  if (!coherent && !told) {
    found.faults.push_back({file, "its entries do not follow each other"});
    told = true;
  }
  for (const auto& entry : index.entries) {
    if (std::ranges::binary_search(known, &entry)) continue;
    const auto stream = layout.streams.find(entry.stream_class);
    if (!coherent || stream == layout.streams.end()) {
      if (!told) found.faults.push_back({file, "its entries are of no stream of the trace"});
      told = true;
      continue;
    }
    // Behind what the file held when reading began: it is still written.
    if (found.now_bytes > bytes && entry.offset + entry.bytes > bytes &&
        entry.offset + entry.bytes <= found.now_bytes) {
      continue;
    }
    Packet missing;
    missing.file = file;
    missing.offset = entry.offset;
    missing.bytes = entry.bytes;
    missing.content_bits = entry.content_bits;
    missing.begin = entry.begin;
    missing.end = entry.end;
    missing.discarded = entry.discarded;
    missing.sequence = entry.sequence.value_or(Packet::kNone);
    missing.instance = entry.instance.value_or(Packet::kNone);
    missing.stream = &stream->second;
    found.missing.push_back(missing);
  }
}

void hold_against_neighbours(size_t file, std::vector<Packet>& packets, PacketIndex& found) {
  uint64_t mended = 0;
  for (size_t i = 0; i < packets.size(); ++i) {
    Packet& own = packets[i];
    if (own.begin == Packet::kNone || own.end == Packet::kNone) continue;
    if (i > 0 && overlap(packets[i - 1], own)) {
      join(packets[i - 1], own);
      ++mended;
    }
    // A crashed recorder left an end of 0.
    if (own.is_confirmed || own.begin <= own.end || own.end == 0) continue;
    const bool follows = i > 0 && packets[i - 1].end != 0 && packets[i - 1].end <= own.end;
    own.begin = follows ? packets[i - 1].end : own.end;
    own.begin_is_lost = !follows;
    ++mended;
  }
  if (mended > 0) found.mended.push_back({file, mended});
}

}  // namespace ctf
