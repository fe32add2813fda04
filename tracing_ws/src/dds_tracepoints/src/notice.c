// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "notice.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool quiet;

// Not when there is something to say: a program may be changing its environment then.
__attribute__((constructor)) static void read_environment(void) {
  const char* asked = getenv("DDS_TRACEPOINTS_QUIET");
  quiet = asked != NULL && strcmp(asked, "1") == 0;
}

void notice(const char* format, ...) {
  if (quiet) {
    return;
  }
  char line[512] = "dds_tracepoints: ";
  size_t length = strlen(line);
  size_t room = sizeof(line) - length - 1;  // for the text and its zero; the newline has one more
  va_list arguments;
  va_start(arguments, format);
  int added = vsnprintf(line + length, room, format, arguments);
  va_end(arguments);
  if (added > 0) {
    length += (size_t)added < room ? (size_t)added : room - 1;
  }
  line[length++] = '\n';
  // Not stdio: its locks may be held by the thread that is in a hook.
  ssize_t ignored = write(STDERR_FILENO, line, length);
  (void)ignored;
}
