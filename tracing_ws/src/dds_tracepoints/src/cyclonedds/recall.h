// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Samples of late, to be found again by what is known of them elsewhere. Cyclone DDS forgets a
// sample's sequence number when it hands it to a reader; writer and source timestamp stay.
#ifndef DDS_TRACEPOINTS_RECALL_H
#define DDS_TRACEPOINTS_RECALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rtps.h"

#define RECALL_PLACES 2048

struct recall_place {
  _Atomic uint32_t version;  // odd while it is written
  _Atomic uint64_t words[7];
};

// Every thread reads and writes it without locks; a sample displaces another of the same place.
struct recall {
  struct recall_place places[RECALL_PLACES];
};

// Remembers a sample of `key` by its stamp. Two samples with the same key and stamp cannot be told
// apart: from then on what is found has the sequence number 0.
void recall_put(struct recall* recall, const uint64_t key[2], const struct sample* sample);

// Gives guid, sequence and size of the sample with this key and stamp; false when it is not there.
bool recall_get(struct recall* recall, const uint64_t key[2], int64_t stamp, struct sample* sample);

#endif
