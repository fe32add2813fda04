// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "columns/arrow.hpp"

#include <string>

namespace ctf {
namespace {

constexpr int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

struct SchemaNode {
  std::string format;
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

// A consumer may move a child out; what is left has no release function any more.
template <typename T>
void release_if_there(T& part) {
  if (part.release != nullptr) part.release(&part);
}

void release_schema(ArrowSchema* schema) {
  auto* node = static_cast<SchemaNode*>(schema->private_data);
  for (auto& child : node->children) release_if_there(child);
  release_if_there(node->dictionary);
  delete node;
  schema->release = nullptr;
}

void fill_schema(const std::string& format, const std::string& name, bool nullable,
                 const std::vector<ColumnType>& children, ArrowSchema* out);

void fill_schema(const ColumnType& type, ArrowSchema* out) {
  // Every column is nullable: another trace's table of the event may lack it.
  fill_schema(type.format, type.name, true, type.children, out);
  if (type.kind != ColumnKind::dictionary) return;
  auto* node = static_cast<SchemaNode*>(out->private_data);
  fill_schema("u", "", true, {}, &node->dictionary);
  out->dictionary = &node->dictionary;
}

void fill_schema(const std::string& format, const std::string& name, bool nullable,
                 const std::vector<ColumnType>& children, ArrowSchema* out) {
  auto node = std::make_unique<SchemaNode>();
  node->format = format;
  node->name = name;
  node->children.resize(children.size());
  for (size_t i = 0; i < children.size(); ++i) {
    fill_schema(children[i], &node->children[i]);
    node->pointers.push_back(&node->children[i]);
  }
  *out = {};
  out->format = node->format.c_str();
  out->name = node->name.c_str();
  out->flags = nullable ? kNullable : 0;
  out->n_children = static_cast<int64_t>(children.size());
  out->children = node->pointers.data();
  out->release = release_schema;
  out->private_data = node.release();
}

struct ArrayNode {
  std::shared_ptr<const void> owner;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

void release_array(ArrowArray* array) {
  auto* node = static_cast<ArrayNode*>(array->private_data);
  for (auto& child : node->children) release_if_there(child);
  release_if_there(node->dictionary);
  delete node;
  array->release = nullptr;
}

// Arrow wants a pointer even where there are no bytes.
const void* bytes_of(const Buffer& buffer) {
  static const uint64_t nothing = 0;
  return buffer.data() == nullptr ? static_cast<const void*>(&nothing) : buffer.data();
}

void fill_array(ArrayNode* node, int64_t length, int64_t nulls, ArrowArray* out) {
  *out = {};
  out->length = length;
  out->null_count = nulls;
  out->n_buffers = static_cast<int64_t>(node->buffers.size());
  out->buffers = node->buffers.data();
  for (auto& child : node->children) node->pointers.push_back(&child);
  out->n_children = static_cast<int64_t>(node->children.size());
  out->children = node->pointers.data();
  out->release = release_array;
  out->private_data = node;
}

void fill_dictionary(const Dictionary& dictionary, const std::shared_ptr<const void>& owner,
                     ArrowArray* out) {
  auto node = std::make_unique<ArrayNode>();
  node->owner = owner;
  node->buffers = {nullptr, bytes_of(dictionary.offsets()), bytes_of(dictionary.text())};
  fill_array(node.release(), dictionary.size(), 0, out);
}

void fill_column(const Column& column, const std::shared_ptr<const void>& owner, ArrowArray* out) {
  auto node = std::make_unique<ArrayNode>();
  node->owner = owner;
  node->buffers.push_back(column.validity() == nullptr ? nullptr : column.validity()->data());
  switch (column.type().kind) {
    case ColumnKind::fixed:
    case ColumnKind::dictionary:
      node->buffers.push_back(bytes_of(column.values()));
      break;
    case ColumnKind::text:
    case ColumnKind::binary:
      node->buffers.push_back(bytes_of(column.offsets()));
      node->buffers.push_back(bytes_of(column.values()));
      break;
    case ColumnKind::list:
      node->buffers.push_back(bytes_of(column.offsets()));
      break;
    case ColumnKind::structure:
      break;
  }
  node->children.resize(column.children().size());
  for (size_t i = 0; i < node->children.size(); ++i) {
    fill_column(column.children()[i], owner, &node->children[i]);
  }
  ArrayNode* kept = node.release();
  fill_array(kept, column.length(), column.null_count(), out);
  if (column.dictionary() != nullptr) {
    fill_dictionary(*column.dictionary(), owner, &kept->dictionary);
    out->dictionary = &kept->dictionary;
  }
}

}  // namespace

void export_schema(const std::vector<ColumnType>& types, ArrowSchema* out) {
  fill_schema("+s", "", false, types, out);
}

void export_array(const std::vector<Column>& columns, int64_t rows,
                  std::shared_ptr<const void> owner, ArrowArray* out) {
  auto node = std::make_unique<ArrayNode>();
  node->owner = owner;
  node->buffers = {nullptr};
  node->children.resize(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    fill_column(columns[i], owner, &node->children[i]);
  }
  fill_array(node.release(), rows, 0, out);
}

}  // namespace ctf
