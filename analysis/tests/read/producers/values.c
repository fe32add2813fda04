// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <math.h>
#include <stddef.h>

static const char* const STRINGS[] = {
    "plain", "", "h\xc3\xa9llo \xe2\x82\xac", "bad \xff\xc3 utf-8", NULL, "tab\tline\n\"quote\"",
};

// SplitMix64.
uint64_t draw(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Bits that are often those of an extreme.
static uint64_t bits(uint64_t* state) {
  static const uint64_t extremes[] = {
      0, ~0ULL, 0x8080808080808080ULL, 0x8000800080008000ULL, 0x8000000080000000ULL, 1ULL << 63,
  };
  const uint64_t drawn = draw(state);
  return drawn % 4 ? draw(state) : extremes[drawn / 4 % (sizeof(extremes) / sizeof(*extremes))];
}

static double real(uint64_t* state) {
  static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, 1e-40, 0.1};
  const uint64_t drawn = draw(state);
  return drawn % 4 ? (double)(int64_t)draw(state) / 1e9 : special[drawn / 4 % 8];
}

void fill(struct values* v, uint64_t round, uint64_t* state) {
  v->round = round;
  for (unsigned i = 0; i < 8; i++) v->u[i] = bits(state);
  v->real = real(state);
  v->single = (float)real(state);
  for (unsigned i = 0; i < ELEMENTS; i++) {
    const uint64_t drawn = bits(state);
    v->u8[i] = drawn, v->s8[i] = drawn, v->u16[i] = drawn, v->s16[i] = drawn;
    v->u32[i] = drawn, v->s32[i] = drawn, v->u64[i] = drawn, v->s64[i] = drawn;
  }
  v->length = draw(state) % (ELEMENTS + 1);
  v->letters = draw(state) % (TEXT + 1);
  for (unsigned i = 0; i < TEXT; i++) v->text[i] = 'a' + draw(state) % 26;
  const uint64_t drawn = draw(state);
  if (drawn % 2) v->text[drawn / 2 % TEXT] = 0;
  if (drawn % 8 == 0) v->text[drawn / 8 % TEXT] = (char)0xe9;
  v->string = STRINGS[draw(state) % (sizeof(STRINGS) / sizeof(*STRINGS))];
}

uint64_t seed_of(const char* text) {
  uint64_t seed = 0;
  for (; *text; text++) seed = seed * 31 + (unsigned char)*text;
  return seed;
}
