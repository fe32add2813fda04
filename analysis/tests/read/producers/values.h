// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// What one round of a producer puts into its events: drawn, and often extreme.
#ifndef VALUES_H
#define VALUES_H
#include <stdint.h>

enum { ELEMENTS = 4, TEXT = 24 };

struct values {
  uint64_t round;
  uint64_t u[8];
  double real;
  float single;
  uint8_t u8[ELEMENTS];
  int8_t s8[ELEMENTS];
  uint16_t u16[ELEMENTS];
  int16_t s16[ELEMENTS];
  uint32_t u32[ELEMENTS];
  int32_t s32[ELEMENTS];
  uint64_t u64[ELEMENTS];
  int64_t s64[ELEMENTS];
  unsigned length;   // 0 to ELEMENTS
  char text[TEXT];   // not always ended by a NUL
  unsigned letters;  // of `text`, 0 to TEXT
  const char* string;
};

// A random number; the next one from the same state is another.
uint64_t draw(uint64_t* state);
void fill(struct values* v, uint64_t round, uint64_t* state);
uint64_t seed_of(const char* text);

#endif
