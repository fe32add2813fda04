// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "notice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void notice(const char* format, ...) {
  const char* quiet = getenv("DDS_TRACEPOINTS_QUIET");
  if (quiet != NULL && strcmp(quiet, "1") == 0) {
    return;
  }
  char line[512] = "dds_tracepoints: ";
  size_t length = strlen(line);
  va_list arguments;
  va_start(arguments, format);
  int added = vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);
  va_end(arguments);
  if (added > 0) {
    length += (size_t)added < sizeof(line) - length - 1 ? (size_t)added : sizeof(line) - length - 2;
  }
  line[length++] = '\n';
  // Not stdio: its locks may be held by the thread that is in a hook.
  ssize_t ignored = write(STDERR_FILENO, line, length);
  (void)ignored;
}
