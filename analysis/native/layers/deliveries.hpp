// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What became of every message at every subscription that it was published for. The rules are those
// of strata.layers.deliveries.
#pragma once

#include <cstdint>

#include "layers/rows_by.hpp"
#include "model/losses.hpp"
#include "storage/many.hpp"

namespace strata {

// Of a publication and a reader, the first that applies.
enum class Fate : uint8_t {
  received,
  overwritten,
  ambiguous_take,
  tracer_lost_events,
  lost_on_the_way,      // or a resend was given up
  lost_or_overwritten,  // on the way, or in the reader's queue
  in_flight,
  never_took,
  process_ended,
  went_silent,
};

// By publication. `sample` is empty where the middleware's events are not there.
struct DeliveryPublications {
  Ints writer;
  Ints handed_ns;
  Ints rmw_publish_ns;
  Ints stamp;
  Ints sample;

  size_t size() const { return writer.size(); }
};

// By message. `latency_ns` is as far as one clock saw it.
struct DeliveryMessages {
  Ints publication;
  Ints reader;
  Ints hop;
  Ints taken_ns;
  Ints latency_ns;

  size_t size() const { return publication.size(); }
};

// By reader. Its process emitted its last event at `process_last_ns`; all traffic by its clock
// ended at `traffic_end_ns`. `is_told`: any event tells that its process was told of samples.
struct DeliveryReaders {
  Ints entity;
  Ints process;
  Ints begin_ns;
  Ints until_ns;
  Ints process_last_ns;
  Ints traffic_end_ns;
  Flags is_told;

  size_t size() const { return entity.size(); }
};

// By pair of a writer and a reader. `is_within`: messages may stay within the process; `is_apart`:
// the two have not one clock.
struct DeliveryPairs {
  Ints writer;
  Ints reader;
  Ints hop;
  Flags is_within;
  Flags is_apart;

  size_t size() const { return writer.size(); }
};

// Pairs of numbers, in any order.
struct Known {
  Ints first;
  Ints second;

  size_t size() const { return first.size(); }
};

// What else is known of messages that were not received.
struct DeliveryEvidence {
  Known overwritten;  // publication, entity of a reader: by the enqueue's own word
  Known doubtful;     // publication, reader
  Known unmatched;    // reader and time of takes that may be of publications without a stamp
  Known told;         // sample, process
  const Losses& losses;
};

// By hop and time. `since_ns`: see strata.layers.deliveries; `before_first` by hop.
struct DeliveryRows {
  Many<int64_t> hop;
  Many<int64_t> publication;
  Many<uint8_t> fate;
  Many<int64_t> published_ns;
  Many<int64_t> since_ns;
  Many<int64_t> before_first;
};

// Throws std::invalid_argument for columns of different lengths, for messages of pairs that are not
// there, and for pairs whose reader or hop is none.
DeliveryRows find_deliveries(const DeliveryPublications& publications,
                             const DeliveryMessages& messages, const DeliveryReaders& readers,
                             const DeliveryPairs& pairs, size_t hops,
                             const DeliveryEvidence& evidence);

}  // namespace strata
