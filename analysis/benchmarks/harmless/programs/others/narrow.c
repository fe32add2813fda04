// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// For 32 bits, on a machine without headers for them.
int puts(const char* line);
void exit(int status) __attribute__((noreturn));

void _start(void) {
  puts("narrow");
  exit(4);
}
