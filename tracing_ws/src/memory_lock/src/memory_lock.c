// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Preloaded into a process, this locks all its memory, present and future, before its main
// function. A lock does not pass over to an executed program, so only the program itself can take
// it. A program that cannot have what was asked for must not run without.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// As the shell's for a command that was found and cannot be executed.
enum { CANNOT = 126 };

__attribute__((constructor)) static void lock_memory(void) {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    fprintf(stderr,
            "Cannot lock the memory of process %d: %s. Raise RLIMIT_MEMLOCK, or give it "
            "CAP_IPC_LOCK.\n",
            (int)getpid(), strerror(errno));
    _exit(CANNOT);
  }
}
