// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "metadata/errors.hpp"
#include "metadata/layout.hpp"

namespace ctf {

// From the bytes of a `metadata` file: packetized TSDL, plain TSDL or CTF 2, whichever they are.
// Of a file that is cut (its recorder was killed) the whole declarations count, see Layout::cut.
// Throws MetadataError.
std::shared_ptr<Layout> parse_metadata(std::span<const uint8_t> bytes);

// The text of it: a packetized file without its packets. `cut` says where the packets end too
// early; it is left as it is when they do not.
std::string unpack_metadata(std::span<const uint8_t> bytes, std::string& cut);

Layout parse_tsdl(std::string_view text);
Layout parse_ctf2(std::string_view text);

// What both front ends leave to do: byte orders, clocks, references, alignments, checks.
void complete(Layout& layout);

}  // namespace ctf
