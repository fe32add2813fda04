// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the packets of a stream file are held against: the packets around them, and LTTng's index.
// Of a header and an index that differ, the one is taken that the packets around bear out.
#pragma once

#include "decode/index_file.hpp"
#include "decode/packets.hpp"

namespace ctf {

// Whether the packets of a stream cannot overlap and hold no event of a time outside their own:
// LTTng 2.11 and later, whose clock never goes back.
bool has_strict_times(const Layout& layout);

// Mends packet headers of one file (`packets`, in the order of the file) and adds the packets that
// only the index knows to `found.missing`. `bytes` is the size up to which the file is read.
void hold_against_index(const Layout& layout, size_t file, uint64_t bytes, const IndexFile& index,
                        std::vector<Packet>& packets, PacketIndex& found);

// Mends times of headers that contradict the packets around, where no index confirms them.
void hold_against_neighbours(size_t file, std::vector<Packet>& packets, PacketIndex& found);

}  // namespace ctf
