// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "decode/trace_set.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

namespace ctf {
namespace {

constexpr uint64_t kBillion = 1'000'000'000;

uint64_t size_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    // Its index may know what it held.
    if (errno == ENOENT) return 0;
    throw std::system_error(errno, std::generic_category(), path);
  }
  return static_cast<uint64_t>(status.st_size);
}

bool has_whole_timestamps(const Stream& stream) {
  return std::ranges::all_of(stream.packets,
                             [](const Packet& packet) { return packet.begin != Packet::kNone; });
}

// Files in the order of their first packets; within a file the order is the producer's.
void sort_files(std::vector<Packet>& packets) {
  std::map<size_t, uint64_t> begins;
  for (const auto& packet : packets) begins.emplace(packet.file, packet.begin);
  std::ranges::stable_sort(packets, {},
                           [&](const Packet& p) { return std::pair(begins.at(p.file), p.file); });
}

// Packets of several files may alternate (snapshots overlap); where the clock of a file went back,
// times say nothing of the order in it.
void sort_by_time(std::vector<Packet>& packets) {
  const bool went_back = std::ranges::adjacent_find(packets, [](const Packet& a, const Packet& b) {
                           return a.file == b.file && b.begin < a.begin;
                         }) != packets.end();
  if (went_back) return sort_files(packets);
  std::ranges::stable_sort(packets, {}, [](const Packet& p) { return std::pair(p.begin, p.end); });
}

}  // namespace

void TraceSet::add(Source source, const std::vector<std::string>& files) {
  const size_t number = sources_.size();
  for (const auto& path : files) files_.push_back({path, size_of(path), number});
  sources_.push_back(std::move(source));
  for (const auto& [id, stream] : sources_.back().layout->streams) {
    for (const auto& [event_id, event] : stream.events) {
      event_classes_.push_back({number, &stream, &event});
    }
  }
}

void TraceSet::index() {
  // Files are of one stream when trace, class and instance are the same. Rotation chunks and
  // snapshots of a session are several directories of one trace: of one UUID. A file without an
  // instance number is a stream of its own.
  using Key = std::tuple<std::string, uint64_t, uint64_t, size_t>;
  std::map<Key, size_t> known;
  OpenFiles files(files_);
  std::vector<PacketIndex> every(files_.size());
  for (size_t number = 0; number < files_.size(); ++number) {
    const Layout& layout = *sources_[files_[number].source].layout;
    index_file(layout, files_[number], number, files, every[number]);
  }
  choose_begins(every);
  for (size_t number = 0; number < files_.size(); ++number) {
    const size_t source = files_[number].source;
    const Layout& layout = *sources_[source].layout;
    PacketIndex& found = every[number];
    damage_.insert(damage_.end(), found.damage.begin(), found.damage.end());
    faults_.insert(faults_.end(), found.faults.begin(), found.faults.end());
    mended_.insert(mended_.end(), found.mended.begin(), found.mended.end());
    const std::string trace = layout.uuid ? format_uuid(*layout.uuid) : std::to_string(source);
    const auto stream_of = [&](const Packet& packet) -> Stream& {
      const size_t alone = packet.instance == Packet::kNone ? number + 1 : 0;
      const Key key{trace, packet.stream->id, packet.instance, alone};
      const auto [place, fresh] = known.emplace(key, streams_.size());
      if (fresh) streams_.push_back({{}, {}, source});
      return streams_[place->second];
    };
    for (const auto& packet : found.packets) stream_of(packet).packets.push_back(packet);
    for (const auto& packet : found.missing) stream_of(packet).missing.push_back(packet);
    found = {};
  }
  for (auto& stream : streams_) sort_packets(stream);
}

// The first packet of a stream follows none. Where its header and the index differ, the one is
// right that is nearer to where the other streams of the directory begin: LTTng makes the buffers
// of all CPUs at once.
void TraceSet::choose_begins(std::vector<PacketIndex>& found) {
  for (size_t number = 0; number < found.size(); ++number) {
    if (found[number].packets.empty()) continue;
    Packet& packet = found[number].packets.front();
    if (packet.index_begin == Packet::kNone) continue;
    std::vector<uint64_t> others;
    for (size_t other = 0; other < found.size(); ++other) {
      if (other == number || files_[other].source != files_[number].source) continue;
      if (found[other].packets.empty()) continue;
      const Packet& first = found[other].packets.front();
      if (first.begin != Packet::kNone && first.index_begin == Packet::kNone) {
        others.push_back(first.begin);
      }
    }
    if (others.empty()) {
      found[number].faults.push_back({number, kContradicts});
      continue;
    }
    std::ranges::nth_element(others, others.begin() + static_cast<ptrdiff_t>(others.size() / 2));
    const uint64_t middle = others[others.size() / 2];
    const auto distance = [&](uint64_t at) { return at > middle ? at - middle : middle - at; };
    if (distance(packet.index_begin) >= distance(packet.begin)) {
      found[number].faults.push_back({number, kContradicts});
      continue;
    }
    packet.begin = packet.index_begin;
    found[number].mended.push_back({number, 1});
  }
}

void TraceSet::sort_packets(Stream& stream) {
  auto& packets = stream.packets;
  if (!has_whole_timestamps(stream)) return;
  sort_by_time(packets);
  // Snapshots overlap: what is the same packet by these is read once.
  std::set<std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>> seen;
  const auto again = [&](const Packet& packet) {
    const bool known = packet.sequence != Packet::kNone;
    return known && !seen.emplace(packet.begin, packet.end, packet.bytes, packet.sequence).second;
  };
  const size_t before = packets.size();
  std::erase_if(packets, again);
  duplicates_ += before - packets.size();
}

ClockConverter::ClockConverter(const Clock& clock) : clock_(clock) {
  const __int128 offset =
      static_cast<__int128>(clock.offset_seconds) * kBillion + clock.offset_cycles;
  plain_ = clock.frequency == kBillion && INT64_MIN <= offset && offset <= INT64_MAX;
  if (!plain_) return;
  offset_ = static_cast<uint64_t>(offset);
  last_plain_ = static_cast<uint64_t>(INT64_MAX - offset);
}

int64_t ClockConverter::converted(uint64_t cycles) const {
  const auto total = static_cast<unsigned __int128>(cycles) + clock_.offset_cycles;
  const auto nanoseconds = static_cast<__int128>(total * kBillion / clock_.frequency) +
                           static_cast<__int128>(clock_.offset_seconds) * kBillion;
  if (nanoseconds > INT64_MAX) return INT64_MAX;
  if (nanoseconds < INT64_MIN) return INT64_MIN;
  return static_cast<int64_t>(nanoseconds);
}

}  // namespace ctf
