// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What caused each message: the messages that its publisher made it from. The rules are those of
// strata.layers.links.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/rows_by.hpp"
#include "storage/many.hpp"

namespace strata {

// By publication. `execution` is that in which it was published, `suspended_ns` for how long that
// one had been suspended until then.
struct LinkPublications {
  Ints execution;
  Ints publisher;
  Ints process;
  Ints begin_ns;
  Ints suspended_ns;

  size_t size() const { return execution.size(); }
};

// By execution. `subscription` is that of its callback; it was over at `over_ns`, all pieces of it.
struct LinkCallbacks {
  Ints subscription;
  Ints process;
  Ints start_ns;
  Ints over_ns;
  Ints suspended_ns;
  Flags is_resumed;

  size_t size() const { return start_ns.size(); }
};

// By message. `execution` is that of its callback, which began at `callback_start_ns`.
struct LinkMessages {
  Ints publication;
  Ints execution;
  Ints callback_start_ns;

  size_t size() const { return publication.size(); }
};

enum class LinkKind : int64_t { callback, periodic_async, partial_sync };

// One input of a declared link: rows of subscriptions, and of the publishers that publish from it.
struct DeclaredInput {
  LinkKind kind;
  Ints subscriptions;
  Ints publishers;
};

// A cause of a message a row, by child and by when it was there.
struct LinkRows {
  Many<int64_t> child;
  Many<int64_t> parent;
  Many<int64_t> kind;
  Many<int64_t> callback_ns;
  Many<int64_t> suspended_ns;
  Many<int64_t> stored_ns;
  Many<int64_t> hold_ns;
  Many<uint8_t> is_critical;
};

// Throws std::invalid_argument for columns of different lengths.
LinkRows link_messages(const LinkPublications& published, const LinkCallbacks& callbacks,
                       const LinkMessages& messages, const std::vector<DeclaredInput>& declared);

}  // namespace strata
