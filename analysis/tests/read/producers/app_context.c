// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app_context.h"

#include <lttng/ust-events.h>
#include <lttng/ust-ringbuffer-context.h>
#include <string.h>

// LTTng-UST exports these for its Java agent, and no public header declares them.
struct lttng_ust_ctx_value {
  int selected;
  union {
    int64_t s64;
    uint64_t u64;
    const char* str;
    double d;
  } u;
};
struct lttng_ust_context_provider {
  uint32_t struct_size;
  const char* name;
  size_t (*get_size)(void*, struct lttng_ust_probe_ctx*, size_t offset);
  void (*record)(void*, struct lttng_ust_probe_ctx*, struct lttng_ust_ring_buffer_ctx*,
                 struct lttng_ust_channel_buffer*);
  void (*get_value)(void*, struct lttng_ust_probe_ctx*, struct lttng_ust_ctx_value*);
  void* priv;
};
void* lttng_ust_context_provider_register(struct lttng_ust_context_provider*);

static const int8_t S8 = -8;
static const int16_t S16 = -16000;
static const int32_t S32 = -32000000;
static const int64_t S64 = INT64_MIN;
static const uint8_t U8 = 200;
static const uint16_t U16 = 60000;
static const uint32_t U32 = 4000000000;
static const uint64_t U64 = UINT64_MAX;
static const float SINGLE = 0.1F;
static const double REAL = 0.1;
static const char STRING[] = "chosen";

// In the order of the variant's options.
#define KIND(value) {&(value), sizeof(value), lttng_ust_rb_alignof(value)}
static const struct {
  const void* value;
  size_t size, alignment;
} KINDS[] = {
    {"", 0, 1}, KIND(S8),  KIND(S16), KIND(S32),    KIND(S64),  KIND(U8),
    KIND(U16),  KIND(U32), KIND(U64), KIND(SINGLE), KIND(REAL), {STRING, sizeof(STRING), 1},
};

static __thread char chosen;

static size_t get_size(void* priv, struct lttng_ust_probe_ctx* probe, size_t offset) {
  (void)priv, (void)probe;
  const size_t padding = lttng_ust_ring_buffer_align(offset + 1, KINDS[(int)chosen].alignment);
  return 1 + padding + KINDS[(int)chosen].size;
}

static void record(void* priv, struct lttng_ust_probe_ctx* probe,
                   struct lttng_ust_ring_buffer_ctx* context,
                   struct lttng_ust_channel_buffer* channel) {
  (void)priv, (void)probe;
  channel->ops->event_write(context, &chosen, 1, 1);
  if (KINDS[(int)chosen].size == 0) return;
  channel->ops->event_write(context, KINDS[(int)chosen].value, KINDS[(int)chosen].size,
                            KINDS[(int)chosen].alignment);
}

// Asked for filters only, which no test has.
static void get_value(void* priv, struct lttng_ust_probe_ctx* probe,
                      struct lttng_ust_ctx_value* value) {
  (void)priv, (void)probe;
  value->selected = 0;
}

int app_context_register(void) {
  static struct lttng_ust_context_provider provider = {
      .struct_size = sizeof(provider),
      .name = "$app.every",
      .get_size = get_size,
      .record = record,
      .get_value = get_value,
  };
  return lttng_ust_context_provider_register(&provider) != NULL;
}

void app_context_set(uint64_t round) { chosen = (char)(round % (sizeof(KINDS) / sizeof(*KINDS))); }
