// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Field classes of CTF 2, from JSON.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "metadata/errors.hpp"
#include "metadata/layout.hpp"

namespace ctf::ctf2 {

using Json = nlohmann::json;

// One fragment, or a value in it; knows its place for messages.
struct Node {
  const Json& json;
  std::string place;

  [[noreturn]] void fail(const std::string& fact) const { throw MetadataError(place, fact); }
  bool has(const char* key) const { return json.is_object() && json.contains(key); }
  Node at(const char* key) const {
    if (!has(key)) fail(std::string("has no `") + key + "`");
    return {json.at(key), place + "/" + key};
  }
  Node at(size_t index) const { return {json.at(index), place + "/" + std::to_string(index)}; }
  size_t size() const {
    if (!json.is_array()) fail("is no array");
    return json.size();
  }
  std::string text() const {
    if (!json.is_string()) fail("is no string");
    return json.get<std::string>();
  }
  std::string text(const char* key, const std::string& otherwise) const {
    return has(key) ? at(key).text() : otherwise;
  }
  uint64_t unsigned_integer(uint64_t most = UINT64_MAX) const {
    if (!json.is_number_integer() || (!json.is_number_unsigned() && json.get<int64_t>() < 0) ||
        json.get<uint64_t>() > most) {
      fail("is no integer from 0 to " + std::to_string(most));
    }
    return json.get<uint64_t>();
  }
  uint64_t unsigned_integer(const char* key, uint64_t otherwise) const {
    return has(key) ? at(key).unsigned_integer() : otherwise;
  }
  uint64_t pattern() const {
    if (!json.is_number_integer()) fail("is no integer");
    return json.is_number_unsigned() ? json.get<uint64_t>()
                                     : static_cast<uint64_t>(json.get<int64_t>());
  }
};

class FieldParser {
 protected:
  FieldPtr field(const Node& node, int depth = 0);
  // Null when `parent` has no such key.
  FieldPtr field_of(const Node& parent, const char* key, int depth = 0);

  std::map<std::string, FieldPtr> aliases_;

 private:
  FieldPtr bit_array(const Node& node, const std::string& type);
  FieldPtr text_or_blob(const Node& node, const std::string& type);
  FieldPtr array(const Node& node, const std::string& type, int depth);
  FieldPtr structure(const Node& node, int depth);
  FieldPtr choice(const Node& node, bool optional, int depth);

  uint64_t budget_ = kMaxFields;
};

}  // namespace ctf::ctf2
