// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "cyclonedds/recall.h"

#include <string.h>

enum { KEY_0, KEY_1, STAMP, GUID_0, GUID_1, SEQUENCE, SIZE, WORDS };

static struct recall_place* place_of(struct recall* recall, const uint64_t key[2], int64_t stamp) {
  uint64_t hash = (key[0] ^ (key[1] << 32 | key[1] >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
  hash = (hash ^ (uint64_t)stamp) * UINT64_C(0xff51afd7ed558ccd);
  return &recall->places[(hash >> 40) % RECALL_PLACES];
}

static bool read_place(struct recall_place* place, uint64_t words[WORDS]) {
  uint32_t before = atomic_load_explicit(&place->version, memory_order_acquire);
  for (int i = 0; i < WORDS; i++) {
    words[i] = atomic_load_explicit(&place->words[i], memory_order_relaxed);
  }
  atomic_thread_fence(memory_order_acquire);
  return !(before & 1) && atomic_load_explicit(&place->version, memory_order_relaxed) == before;
}

static bool is_it(const uint64_t words[WORDS], const uint64_t key[2], int64_t stamp) {
  return words[KEY_0] == key[0] && words[KEY_1] == key[1] && words[STAMP] == (uint64_t)stamp;
}

void recall_put(struct recall* recall, const uint64_t key[2], const struct sample* sample) {
  struct recall_place* place = place_of(recall, key, sample->stamp);
  uint64_t words[WORDS] = {key[0], key[1], (uint64_t)sample->stamp};
  uint64_t old[WORDS];
  memcpy(&words[GUID_0], sample->guid, sizeof(sample->guid));
  words[SEQUENCE] = (uint64_t)sample->sequence;
  words[SIZE] = sample->size;
  if (read_place(place, old) && is_it(old, key, sample->stamp)) {
    if (old[SEQUENCE] == words[SEQUENCE] || old[SEQUENCE] == 0) {
      return;
    }
    words[SEQUENCE] = 0;
  }
  uint32_t version = atomic_load_explicit(&place->version, memory_order_relaxed);
  // Another thread is writing there: its sample stays.
  if ((version & 1) || !atomic_compare_exchange_strong(&place->version, &version, version + 1)) {
    return;
  }
  atomic_thread_fence(memory_order_release);
  for (int i = 0; i < WORDS; i++) {
    atomic_store_explicit(&place->words[i], words[i], memory_order_relaxed);
  }
  atomic_store_explicit(&place->version, version + 2, memory_order_release);
}

bool recall_get(struct recall* recall, const uint64_t key[2], int64_t stamp,
                struct sample* sample) {
  uint64_t words[WORDS];
  if (!read_place(place_of(recall, key, stamp), words) || !is_it(words, key, stamp)) {
    return false;
  }
  memcpy(sample->guid, &words[GUID_0], sizeof(sample->guid));
  sample->sequence = (int64_t)words[SEQUENCE];
  sample->size = (uint32_t)words[SIZE];
  return true;
}
