// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The context `$app.every:kind`: a variant, of another class in each round.
#ifndef APP_CONTEXT_H
#define APP_CONTEXT_H
#include <stdint.h>

// Returns 0 when LTTng refuses.
int app_context_register(void);

// Choose the calling thread's value.
void app_context_set(uint64_t round);

#endif
